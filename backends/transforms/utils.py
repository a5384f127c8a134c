# SPDX-License-Identifier: BSD-3-Clause
"""The data of a program by node: which nodes are data, their tensors, new ones, and none."""

from __future__ import annotations

import dataclasses

import torch
from torch._guards import detect_fake_mode
from torch.export import ExportedProgram
from torch.export.graph_signature import (
    ExportGraphSignature,
    InputKind,
    InputSpec,
    OutputKind,
    OutputSpec,
    TensorArgument,
)
from torch.fx import Graph, Node

from executorch.exir.graph_facts import DATA_KINDS, attribute_of, data_spec_of, holder_of
from executorch.exir.graph_facts import is_param_node as is_param_node


def is_get_attr_node(node: Node) -> bool:
    return isinstance(node, Node) and node.op == "get_attr"


def get_param_tensor(exp_prog: ExportedProgram, node: Node | None) -> torch.Tensor | None:
    """The tensor of such a node; RuntimeError for any other."""
    if node is None:
        return None
    if is_get_attr_node(node):
        return attribute_of(exp_prog.graph_module, node.target)
    spec = data_spec_of(exp_prog, node)
    if spec is None:
        raise RuntimeError(
            f"unsupported param type, {node.op}: {node.name} is no parameter, buffer or constant of the program"
        )
    return holder_of(exp_prog, spec.target)[spec.target]


def create_constant_placeholder(
    exp_program: ExportedProgram,
    graph: Graph,
    name: str,
    kind: InputKind,
    data: torch.Tensor,
    persistent_buffer: bool | None = None,
) -> Node:
    """A new placeholder of `graph` with `data`, known to signature and program. It stands at the graph's insertion
    point, which should be before the inputs of the user. A name that is taken gives the node of that name."""
    if kind not in DATA_KINDS:
        raise RuntimeError(
            f"Invalid input kind: {kind}; expected one of {[k.name for k in DATA_KINDS]}"
        )
    if kind == InputKind.BUFFER and persistent_buffer is None:
        raise RuntimeError("Must set persistent_buffer when creating a new buffer.")
    target = name
    for node in graph.nodes:
        if node.op == "placeholder" and node.name == name:
            return node
    place = _place(graph)
    node = graph.create_node(op="placeholder", name=name, target=name)
    mode = detect_fake_mode([n.meta.get("val") for n in graph.find_nodes(op="placeholder")])
    node.meta["val"] = mode.from_tensor(data, static_shapes=True) if mode else data
    if kind == InputKind.PARAMETER:
        data = data if isinstance(data, torch.nn.Parameter) else torch.nn.Parameter(data, False)
        exp_program.state_dict[target] = data
    elif kind == InputKind.BUFFER and persistent_buffer:
        exp_program.state_dict[target] = data
    else:
        exp_program.constants[target] = data
    persistent = persistent_buffer if kind == InputKind.BUFFER else None
    spec = InputSpec(kind, TensorArgument(node.name), target=target, persistent=persistent)
    signature = exp_program.graph_signature
    specs = list(signature.input_specs)
    specs.insert(place, spec)
    exp_program._graph_signature = ExportGraphSignature(specs, list(signature.output_specs))
    return node


def _place(graph: Graph) -> int:
    """How many placeholders stand before the graph's insertion point."""
    probe = graph.create_node("placeholder", "_probe")
    place = [n for n in graph.nodes if n.op == "placeholder"].index(probe)
    graph.erase_node(probe)
    return place


def delete_constant_placeholder(exp_program: ExportedProgram, node: Node) -> None:
    """Takes a placeholder that nobody reads, and its data, out of the program; RuntimeError for any other node."""
    spec = data_spec_of(exp_program, node)
    if spec is None:
        raise RuntimeError(f"{node.name} is no parameter, buffer or constant of the program")
    if node.users:
        raise RuntimeError(f"{node.name} is read by {', '.join(n.name for n in node.users)}")
    signature = exp_program.graph_signature
    others = [s for s in signature.input_specs if s is not spec]
    if all(s.target != spec.target for s in others):
        exp_program.state_dict.pop(spec.target, None)
        exp_program.constants.pop(spec.target, None)
    exp_program._graph_signature = ExportGraphSignature(others, list(signature.output_specs))
    node.graph.erase_node(node)


def create_mutable_buffer(exp_program: ExportedProgram, name: str, data: torch.Tensor) -> Node:
    """A new buffer and an output that writes it, which for now is the buffer as it is: replace that one's argument by
    the new value. `name` is the placeholder's, `b_x` for the buffer x."""
    graph, signature = exp_program.graph, exp_program.graph_signature
    buffers = [spec.arg.name for spec in signature.input_specs if spec.kind == InputKind.BUFFER]
    placeholders = graph.find_nodes(op="placeholder")
    last = next((node for node in reversed(placeholders) if node.name in buffers), None)
    insertion = graph.inserting_after(last) if last else graph.inserting_before(placeholders[0])
    with insertion:
        node = create_constant_placeholder(
            exp_program, graph, name, InputKind.BUFFER, data, persistent_buffer=True
        )
    output = graph.output_node()
    output.args = ((node, *output.args[0]),)
    target = name.removeprefix("b_")
    exp_program.state_dict[target] = exp_program.state_dict.pop(name)
    signature = exp_program.graph_signature
    inputs = [
        dataclasses.replace(spec, target=target) if spec.arg.name == node.name else spec
        for spec in signature.input_specs
    ]
    written = OutputSpec(OutputKind.BUFFER_MUTATION, TensorArgument(node.name), target=target)
    exp_program._graph_signature = ExportGraphSignature(inputs, [written, *signature.output_specs])
    return node
