# SPDX-License-Identifier: BSD-3-Clause
"""A partition as a program of its own, over the same tensors as the program it comes from."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import torch
from torch.export import ExportedProgram
from torch.export.exported_program import ModuleCallEntry, ModuleCallSignature
from torch.export.graph_signature import (
    ArgumentSpec,
    ConstantArgument,
    ExportGraphSignature,
    InputKind,
    InputSpec,
    OutputKind,
    OutputSpec,
    SymBoolArgument,
    SymFloatArgument,
    SymIntArgument,
    TensorArgument,
)
from torch.fx import Graph, GraphModule, Node
from torch.utils import _pytree as pytree

from executorch.exir.backend._partitions import TAG, Partition, error
from executorch.exir.graph_facts import input_specs
from executorch.exir.verification.verifier import EdgeDialect


@dataclass
class Extracted:
    """`inputs` and `outputs`: nodes of the outer graph, in the order of the program's user inputs and outputs."""

    program: ExportedProgram
    inputs: list[Node]
    outputs: list[Node]


def extract(owner: ExportedProgram, partition: Partition) -> Extracted:
    graph, root = Graph(), torch.nn.Module()
    inside: dict[Node, Node] = {}
    inputs = _read_from_outside(partition)
    for source in [*partition.owned, *inputs]:
        inside[source] = graph.placeholder(source.name)
        inside[source].meta = {key: value for key, value in source.meta.items() if key != TAG}
    for node in partition.nodes:
        for source in node.all_input_nodes:
            if source.op == "get_attr" and source not in inside:
                inside[source] = _copy_attribute(source, graph, root)
        inside[node] = graph.node_copy(node, inside.__getitem__)
        inside[node].meta.pop(TAG, None)
    outputs = _used_outside(partition)
    graph.output(
        [inside[node] for node in [*partition.written.values(), *outputs]],
    )
    program = _program(owner, partition, GraphModule(root, graph), inside, inputs, outputs)
    return Extracted(program, inputs, outputs)


def _read_from_outside(partition: Partition) -> list[Node]:
    """In the order in which the partition's nodes name them; what it owns and graphs it calls are not inputs."""
    inputs: dict[Node, None] = {}
    owned = set(partition.owned)
    for node in partition.nodes:
        for source in node.all_input_nodes:
            if source not in partition and source not in owned and source.op != "get_attr":
                inputs[source] = None
    return list(inputs)


def _used_outside(partition: Partition) -> list[Node]:
    """Nodes with readers outside, other than the write of a buffer that the partition owns."""
    written = list(partition.written.values())
    outputs = []
    for node in partition.nodes:
        readers = [user for user in node.users if user not in partition]
        if all(user.op == "output" for user in readers):
            times = sum(_times_returned(user, node) for user in readers)
            if times <= written.count(node):
                continue
        if isinstance(node.meta.get("val"), list | tuple):
            raise error(
                f"node {node.name} (delegation tag {partition.tag!r}) yields a list, which "
                f"{readers[0].name} reads outside of the delegate; expected tensors. Claim both, or neither"
            )
        outputs.append(node)
    return outputs


def _times_returned(output: Node, node: Node) -> int:
    return sum(value is node for value in output.args[0])


def _copy_attribute(source: Node, graph: Graph, root: torch.nn.Module) -> Node:
    """A branch or a module lowered before; both are part of the partition."""
    owner: Any = source.graph.owning_module
    root.add_module(source.target, getattr(owner, source.target))
    node = Graph.create_node(graph, "get_attr", source.target, name=source.name)
    node.meta = dict(source.meta)
    return node


def _program(
    owner: ExportedProgram,
    partition: Partition,
    module: GraphModule,
    inside: dict[Node, Node],
    inputs: list[Node],
    outputs: list[Node],
) -> ExportedProgram:
    specs = input_specs(owner.graph_signature)
    data = {node: specs[node.name] for node in partition.owned}
    signature = ExportGraphSignature(
        [InputSpec(s.kind, _argument(inside[n]), s.target, s.persistent) for n, s in data.items()]
        + [InputSpec(InputKind.USER_INPUT, _argument(inside[n]), None) for n in inputs],
        [
            OutputSpec(OutputKind.BUFFER_MUTATION, _argument(inside[value]), data[node].target)
            for node, value in partition.written.items()
        ]
        + [OutputSpec(OutputKind.USER_OUTPUT, _argument(inside[n]), None) for n in outputs],
    )
    targets = [spec.target for spec in data.values()]
    return ExportedProgram(
        root=module,
        graph=module.graph,
        graph_signature=signature,
        state_dict={name: owner.state_dict[name] for name in targets if name in owner.state_dict},
        range_constraints=dict(owner.range_constraints),
        module_call_graph=[_flat_call(len(inputs), len(outputs))],
        constants={name: owner.constants[name] for name in targets if name in owner.constants},
        verifiers=[EdgeDialect],
    )


def _argument(node: Node) -> ArgumentSpec:
    value = node.meta.get("val")
    for kind, argument in _ARGUMENTS:
        if isinstance(value, kind):
            return argument(name=node.name)
    return ConstantArgument(name=node.name, value=value)


_ARGUMENTS: tuple[tuple[type, Any], ...] = (
    (torch.Tensor, TensorArgument),
    (torch.SymInt, SymIntArgument),
    (torch.SymFloat, SymFloatArgument),
    (torch.SymBool, SymBoolArgument),
)


def _flat_call(num_inputs: int, num_outputs: int) -> ModuleCallEntry:
    return ModuleCallEntry(
        "",
        ModuleCallSignature(
            inputs=[],
            outputs=[],
            in_spec=pytree.tree_structure((tuple(range(num_inputs)), {})),
            out_spec=pytree.tree_structure(tuple(range(num_outputs))),
        ),
    )
