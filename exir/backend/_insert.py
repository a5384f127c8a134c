# SPDX-License-Identifier: BSD-3-Clause
"""Puts lowered modules where their partitions stood, and takes what they own out of the program.

before: %a = add(%x, %y)      after: %lowered_module_0 = get_attr
        %b = mul(%a, %x)             %executorch_call_delegate = executorch_call_delegate(%lowered_module_0, %x, %y)
                                     %getitem = getitem(%executorch_call_delegate, 0)
"""

from __future__ import annotations

import operator
from dataclasses import dataclass

from torch.export import ExportedProgram
from torch.export.graph_signature import ExportGraphSignature, OutputKind
from torch.fx import Node

from executorch.exir.backend._extract import Extracted
from executorch.exir.backend._graph_order import sort_stably
from executorch.exir.backend._partitions import TAG, Partition
from executorch.exir.delegate import executorch_call_delegate, get_lowered_module_name
from executorch.exir.lowered_backend_module import LoweredBackendModule


@dataclass(frozen=True)
class Lowered:
    partition: Partition
    extracted: Extracted
    module: LoweredBackendModule


def insert_all(program: ExportedProgram, lowered: list[Lowered]) -> None:
    """Works in place on the graphs of `program`; modules are numbered in the order given."""
    replaced: dict[Node, Node] = {}
    for one in lowered:
        _insert_call(one, replaced)
    _drop_writes(program, lowered)
    for one in lowered:
        for node in reversed(one.partition.nodes):
            one.partition.module.graph.erase_node(node)
    _drop_owned(program, lowered)
    for module in {id(one.partition.module): one.partition.module for one in lowered}.values():
        sort_stably(module.graph)
        for node in module.graph.find_nodes(op="get_attr"):
            if not node.users:
                module.graph.erase_node(node)
        module.recompile()


def _insert_call(one: Lowered, replaced: dict[Node, Node]) -> None:
    module, graph = one.partition.module, one.partition.module.graph
    name = get_lowered_module_name(module, one.module)
    inputs = [replaced.get(node, node) for node in one.extracted.inputs]
    with graph.inserting_before(one.partition.nodes[0]):
        attribute = graph.get_attr(name)
        call = graph.call_function(executorch_call_delegate, (attribute, *inputs))
        call.meta["val"] = [node.meta["val"] for node in one.extracted.outputs]
        for index, node in enumerate(one.extracted.outputs):
            item = graph.call_function(operator.getitem, (call, index))
            item.meta = {key: value for key, value in node.meta.items() if key != TAG}
            replaced[node] = item
            node.replace_all_uses_with(item, lambda user: user not in one.partition)


def _drop_writes(program: ExportedProgram, lowered: list[Lowered]) -> None:
    """What a delegate writes to its own buffers is no output of the method."""
    owned = {_target_of(program)[node.name] for one in lowered for node in one.partition.written}
    if not owned:
        return
    signature, output = program.graph_signature, program.graph.output_node()
    kept = [
        (spec, value)
        for spec, value in zip(signature.output_specs, output.args[0], strict=True)
        if spec.kind == OutputKind.USER_OUTPUT or spec.target not in owned
    ]
    output.args = (tuple(value for _, value in kept),)
    program._graph_signature = ExportGraphSignature(
        list(signature.input_specs), [spec for spec, _ in kept]
    )


def _drop_owned(program: ExportedProgram, lowered: list[Lowered]) -> None:
    """Data that only delegates read leaves the program."""
    target_of = _target_of(program)
    gone = {node for one in lowered for node in one.partition.owned if not node.users}
    for node in gone:
        program.graph.erase_node(node)
    names = {node.name for node in gone}
    signature = program.graph_signature
    kept = [spec for spec in signature.input_specs if spec.arg.name not in names]
    left = {spec.target for spec in kept}
    for name in names:
        if target_of[name] not in left:
            program._state_dict.pop(target_of[name], None)
            program._constants.pop(target_of[name], None)
    program._graph_signature = ExportGraphSignature(kept, list(signature.output_specs))


def _target_of(program: ExportedProgram) -> dict[str, str]:
    return {spec.arg.name: spec.target for spec in program.graph_signature.input_specs}
