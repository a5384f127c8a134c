# SPDX-License-Identifier: BSD-3-Clause
"""Copies of ExportedPrograms that share all tensors, programs over another graph, and data nobody reads."""

from __future__ import annotations

import copy
from typing import Any

from torch.export import ExportedProgram
from torch.export.graph_signature import (
    ConstantArgument,
    ExportGraphSignature,
    InputSpec,
    OutputSpec,
)
from torch.fx import GraphModule, Node

from executorch.exir.error import ExportError, ExportErrorType, InternalError
from executorch.exir.graph_facts import DATA_KINDS, changing_data


def own_copy(program: ExportedProgram) -> ExportedProgram:
    """A program with a graph of its own over the same parameters and constants."""
    return with_graph_module(program, copy.deepcopy(program.graph_module))


def with_graph_module(
    program: ExportedProgram,
    graph_module: GraphModule,
    signature: ExportGraphSignature | None = None,
) -> ExportedProgram:
    """`program` over another graph; nothing is verified (torch's constructor would refuse out variants)."""
    result = copy.copy(program)
    result._graph_module = graph_module
    result._graph_signature = signature or signature_for(program.graph_signature, graph_module)
    result._state_dict = dict(program.state_dict)
    result._constants = dict(program.constants)
    result._range_constraints = dict(program.range_constraints)
    return result


def signature_for(old_signature: ExportGraphSignature, new_gm: GraphModule) -> ExportGraphSignature:
    """The signature with the names that the graph's placeholders and outputs now have."""
    placeholders = new_gm.graph.find_nodes(op="placeholder")
    outputs = next(iter(reversed(new_gm.graph.nodes))).args[0]
    if len(placeholders) != len(old_signature.input_specs) or len(outputs) != len(
        old_signature.output_specs
    ):
        raise ExportError(
            ExportErrorType.NOT_SUPPORTED,
            "a pass over a graph doesn't support changing the placeholders. "
            f"Number of inputs or outputs changed after transformation: inputs ({len(old_signature.input_specs)} -> "
            f"{len(placeholders)}), outputs ({len(old_signature.output_specs)} -> {len(outputs)}); "
            "use an ExportedProgramPassBase, which also returns the signature",
        )
    inputs = [
        InputSpec(spec.kind, _renamed(spec.arg, node), spec.target, spec.persistent)
        for spec, node in zip(old_signature.input_specs, placeholders)
    ]
    results = [
        OutputSpec(spec.kind, _renamed(spec.arg, node), spec.target)
        for spec, node in zip(old_signature.output_specs, outputs)
    ]
    return ExportGraphSignature(inputs, results)


def _renamed(arg: Any, value: Any) -> Any:
    if isinstance(arg, ConstantArgument):
        return arg
    return type(arg)(name=value.name) if isinstance(value, Node) else arg


def drop_unused_data(program: ExportedProgram) -> None:
    """Removes parameters, buffers and constants that no instruction reads, and their data; works in place."""
    written = changing_data(program.graph_signature)
    placeholders = {n.name: n for n in program.graph.find_nodes(op="placeholder")}
    kept, dropped = [], []
    for spec in program.graph_signature.input_specs:
        node = placeholders.get(spec.arg.name)
        if node is None:
            raise InternalError(f"input {spec.arg.name} of the signature has no placeholder")
        if spec.kind in DATA_KINDS and not node.users and spec.target not in written:
            program.graph.erase_node(node)
            dropped.append(spec.target)
        else:
            kept.append(spec)
    for target in set(dropped) - {spec.target for spec in kept}:
        program.state_dict.pop(target, None)
        program.constants.pop(target, None)
    program._graph_signature = ExportGraphSignature(
        kept, list(program.graph_signature.output_specs)
    )
