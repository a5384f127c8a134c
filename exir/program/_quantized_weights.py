# SPDX-License-Identifier: BSD-3-Clause
"""Weights that torchao quantized become plain tensors, and embeddings read them as they are stored. Linear layers do,
too, where no backend multiplies by them: an embedding of all rows is their matrix, from 8, 4 or 2 bits a weight.

before: %d = dequantize_affine(%w, [1, 32], %scale, %zero); %e = embedding(%d, %ids); %l = linear(%x, %f)
after:  %e = quantized_decomposed.embedding_4bit(%w packed, %scale, None, -8, 7, %ids)
        %g = quantized_decomposed.embedding_4bit(%v packed, ..., arange(rows)); %l = linear(%x, %g)"""

from __future__ import annotations

from dataclasses import dataclass

import torch
from torch.export import ExportedProgram
from torch.fx import Node

import executorch.exir.passes._quant_patterns_and_replacements  # noqa: F401  (operators)
from executorch.exir.graph_facts import data_spec_of, replace_data
from executorch.exir.passes.constant_prop_pass import get_constant_placeholder_dict
from executorch.exir.program_copies import own_copy
from executorch.exir.retrace.program import fake_mode_of
from executorch.exir.retrace.tensor_subclasses import with_plain_tensors

_OPS = torch.ops.quantized_decomposed


@dataclass(frozen=True)
class _Table:
    """What an embedding dequantizes: placeholders of the data, and what goes with them."""

    weight: Node
    scales: Node
    zero_points: Node | None
    quant_min: int
    quant_max: int


def with_stored_weights(program: ExportedProgram, has_backends: bool = False) -> ExportedProgram:
    """The program itself when it has nothing of the kind; it is not changed. `has_backends`: linear layers of inputs
    that are quantized, too, are left to them."""
    program = with_plain_tensors(program)
    if not _embeddings(program) and not _matrices(program, has_backends):
        return program
    program = own_copy(program)
    constants = get_constant_placeholder_dict(program)
    for node in _embeddings(program):
        table = _table_of(node.args[0])
        if table is not None and all(each in constants for each in node.args[0].all_input_nodes):
            _replace(program, node, table, constants)
    constants = get_constant_placeholder_dict(program)
    for node in _matrices(program, has_backends):
        table = _table_of(node)
        if all(each in constants for each in node.all_input_nodes):
            _read_rows(program, node, table, constants)
    program.graph_module.recompile()
    return program


def _embeddings(program: ExportedProgram) -> list[Node]:
    return [
        node
        for node in program.graph.nodes
        if node.target is torch.ops.aten.embedding.default and _table_of(node.args[0]) is not None
    ]


def _matrices(program: ExportedProgram, has_backends: bool) -> list[Node]:
    """Weights of torchao that linear layers alone read, dequantized to the type of their scales."""

    def is_linear(user: Node, node: Node) -> bool:
        if user.target is not torch.ops.aten.linear.default or user.args[1] is not node:
            return False
        return not has_backends or "dequantize" not in str(user.args[0].target)

    return [
        node
        for node in program.graph.nodes
        if str(node.target) == "torchao.dequantize_affine.default"
        and (table := _table_of(node)) is not None
        and all(is_linear(user, node) for user in node.users)
        and node.meta["val"].dtype == table.scales.meta["val"].dtype
    ]


def _read_rows(
    program: ExportedProgram, node: Node, table: _Table, constants: dict[Node, torch.Tensor]
) -> None:
    """An embedding of all rows in the place of a dequantized matrix."""
    points = table.zero_points
    if points is not None and constants[points].any():
        return
    with fake_mode_of(program), program.graph.inserting_before(node):
        rows = table.weight.meta["val"].shape[0]
        ids = program.graph.call_function(torch.ops.aten.arange.default, (rows,))
        ids.meta = {**node.meta, "val": torch.arange(rows)}
        embedding = program.graph.call_function(torch.ops.aten.embedding.default, (node, ids))
    embedding.meta = dict(node.meta)
    node.replace_all_uses_with(embedding, lambda user: user is not embedding)
    _replace(program, embedding, table, constants)


def _table_of(node: Node) -> _Table | None:
    args = node.args
    match str(node.target):
        case "torchao.dequantize_affine.default":
            block = list(args[1])
            if len(block) != 2 or block[0] != 1 or args[4] != torch.int8:
                return None
            return _Table(args[0], args[2], args[3], args[5], args[6])
        case "quantized_decomposed.dequantize_per_channel.default":
            if args[3] != 0 or args[6] != torch.int8:
                return None
            return _Table(args[0], args[1], args[2], args[4], args[5])
    return None


def _replace(
    program: ExportedProgram, node: Node, table: _Table, constants: dict[Node, torch.Tensor]
) -> None:
    dequantize, indices = node.args[:2]
    bits = _bits(table)
    alone = len(table.weight.users) == 1 and len(dequantize.users) == 1
    if bits < 8 and alone and constants[table.weight].shape[1] % (8 // bits) == 0:
        _store(program, table.weight, _packed(constants[table.weight].detach(), bits))
    else:
        bits = 8
    limits = (-(1 << bits - 1), (1 << bits - 1) - 1)
    points = table.zero_points
    if points is not None and not constants[points].any():
        points = None
    op = {8: _OPS.embedding_byte, 4: _OPS.embedding_4bit, 2: _OPS.embedding_2bit}[bits].default
    with program.graph.inserting_before(node):
        new = program.graph.call_function(
            op, (table.weight, table.scales, points, *limits, indices)
        )
    new.meta = dict(node.meta)
    node.replace_all_uses_with(new)
    program.graph.erase_node(node)
    if not dequantize.users:
        program.graph.erase_node(dequantize)


def _bits(table: _Table) -> int:
    for bits in (2, 4):
        if table.quant_min >= -(1 << bits - 1) and table.quant_max < 1 << bits - 1:
            return bits
    return 8


def _packed(data: torch.Tensor, bits: int) -> torch.Tensor:
    """As the kernels unpack: of 4 bits the first in the high half, of 2 bits the first in the lowest."""
    codes = (data + (1 << bits - 1)).to(torch.uint8)
    if bits == 4:
        return codes[:, ::2] << 4 | codes[:, 1::2]
    return codes[:, ::4] | codes[:, 1::4] << 2 | codes[:, 2::4] << 4 | codes[:, 3::4] << 6


def _store(program: ExportedProgram, node: Node, data: torch.Tensor) -> None:
    """Gives a placeholder other data."""
    spec = data_spec_of(program, node)
    if spec is not None:
        replace_data(program, spec.target, data)
    node.meta["val"] = fake_mode_of(program).from_tensor(data, static_shapes=True)
