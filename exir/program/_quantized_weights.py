# SPDX-License-Identifier: BSD-3-Clause
"""Embeddings read weights that torchao quantized as they are stored. Linear layers do, too, where no backend multiplies
by them: an embedding of all rows is their matrix, from 8, 4 or 2 bits a weight. Partitioners see the program before,
with dequantize and what reads it side by side, unless they say that they want it so (`reads_stored_weights`).

before: %d = dequantize_affine(%w, [1, 32], %scale, %zero); %e = embedding(%d, %ids); %l = linear(%x, %f)
after:  %e = quantized_decomposed.embedding_4bit(%w packed, %scale, None, -8, 7, %ids)
        %g = quantized_decomposed.embedding_4bit(%v packed, ..., arange(rows)); %l = linear(%x, %g)"""

from __future__ import annotations

import torch
from torch.export import ExportedProgram
from torch.fx import Node

from executorch.exir.backend.lowering.quantized import Quantization, table_of
from executorch.exir.backend.lowering.quantized_steps import quantized_step
from executorch.exir.dialects.edge._ops import edge_op_of
from executorch.exir.graph_facts import called_op, data_spec_of, op_name, replace_data
from executorch.exir.passes._quant_patterns_and_replacements import pack_embedding_weight
from executorch.exir.passes.constant_prop_pass import get_constant_placeholder_dict
from executorch.exir.passes.quant_fusion_pass import embedding_call
from executorch.exir.program_copies import own_copy
from executorch.exir.retrace.program import fake_mode_of


def with_stored_weights(program: ExportedProgram, has_backends: bool = False) -> ExportedProgram:
    """The edge program itself when it has nothing of the kind; it is not changed. `has_backends`: linear layers of
    inputs that are quantized, too, are left to them."""
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
        if called_op(node) is torch.ops.aten.embedding.default
        and _table_of(node.args[0]) is not None
    ]


def _matrices(program: ExportedProgram, has_backends: bool) -> list[Node]:
    """Weights of torchao that linear layers alone read, dequantized to the type of their scales."""

    def is_linear(user: Node, node: Node) -> bool:
        if called_op(user) is not torch.ops.aten.linear.default or user.args[1] is not node:
            return False
        return not has_backends or user.args[0] not in quantized_step(user).inputs

    return [
        node
        for node in program.graph.nodes
        if op_name(node) == "torchao.dequantize_affine.default"
        and (table := _table_of(node)) is not None
        and all(is_linear(user, node) for user in node.users)
        and node.meta["val"].dtype == table.scale.meta["val"].dtype
    ]


def _read_rows(
    program: ExportedProgram, node: Node, table: Quantization, constants: dict[Node, torch.Tensor]
) -> None:
    """An embedding of all rows in the place of a dequantized matrix."""
    points = table.zero_point
    if points is not None and constants[points].any():
        return
    with fake_mode_of(program), program.graph.inserting_before(node):
        rows = table.source.meta["val"].shape[0]
        arange = edge_op_of(torch.ops.aten.arange.start_step)
        ids = program.graph.call_function(arange, (0, rows))
        ids.meta = {**node.meta, "val": torch.arange(rows)}
        embedding = program.graph.call_function(
            edge_op_of(torch.ops.aten.embedding.default), (node, ids)
        )
    embedding.meta = dict(node.meta)
    node.replace_all_uses_with(embedding, lambda user: user is not embedding)
    _replace(program, embedding, table, constants)


def _table_of(node: Node) -> Quantization | None:
    table = table_of(node)
    return table if table is not None and table.dtype == torch.int8 else None


def _replace(
    program: ExportedProgram, node: Node, table: Quantization, constants: dict[Node, torch.Tensor]
) -> None:
    dequantize, indices = node.args[:2]
    bits = table.bits
    alone = len(table.source.users) == 1 and len(dequantize.users) == 1
    if bits < 8 and alone and constants[table.source].shape[1] % (8 // bits) == 0:
        _store(program, table.source, pack_embedding_weight(constants[table.source].detach(), bits))
    else:
        bits = 8
    limits = (-(1 << bits - 1), (1 << bits - 1) - 1)
    points = table.zero_point
    if points is not None and not constants[points].any():
        points = None
    new = embedding_call(node, bits, (table.source, table.scale, points, *limits, indices))
    node.replace_all_uses_with(new)
    program.graph.erase_node(node)
    if not dequantize.users:
        program.graph.erase_node(dequantize)


def _store(program: ExportedProgram, node: Node, data: torch.Tensor) -> None:
    """Gives a placeholder other data."""
    spec = data_spec_of(program, node)
    if spec is not None:
        replace_data(program, spec.target, data)
    node.meta["val"] = fake_mode_of(program).from_tensor(data, static_shapes=True)
