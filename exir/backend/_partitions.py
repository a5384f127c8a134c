# SPDX-License-Identifier: BSD-3-Clause
"""From tags to partitions: which nodes form one delegate and which data it owns, and every reason to refuse."""

from __future__ import annotations

import operator
from collections.abc import Iterator
from dataclasses import dataclass, field

from torch.export import ExportedProgram
from torch.export.graph_signature import InputSpec, OutputKind
from torch.fx import GraphModule, Node

from executorch.exir.backend._graph_order import CyclicGroups, groups_in_order
from executorch.exir.backend.partitioner import DelegationSpec, PartitionResult
from executorch.exir.error import ExportError, ExportErrorType
from executorch.exir.graph_facts import DATA_KINDS, input_specs
from executorch.exir.graph_module import get_control_flow_submodules

TAG = "delegation_tag"
_WRITES = frozenset({OutputKind.BUFFER_MUTATION, OutputKind.PARAMETER_MUTATION})


@dataclass(eq=False)
class Partition:
    """Nodes of one tag in one graph, in graph order. `level` counts the tagged control flow around the graph: deeper
    ones are lowered first."""

    tag: str
    delegation: DelegationSpec
    module: GraphModule
    level: int
    nodes: list[Node] = field(default_factory=list)
    owned: list[Node] = field(default_factory=list)  # data placeholders, in signature order
    written: dict[Node, Node] = field(default_factory=dict)  # owned buffer -> its new value

    def __post_init__(self) -> None:
        self._members = set(self.nodes)

    def __contains__(self, node: Node) -> bool:
        return node in self._members


def find_partitions(program: ExportedProgram, result: PartitionResult) -> list[Partition]:
    """The partitions of all graphs of `program`, in graph order, checked."""
    _check_placeholders(program, result)
    found: list[Partition] = []
    for module, level in _graphs(program.graph_module, 0):
        partitions = _partitions_of(module, level, result)
        _check_acyclic(module, partitions)
        found.extend(partitions)
    top = [one for one in found if one.module is program.graph_module]
    _assign_data(program, top)
    return found


class WrongTag(ExportError, RuntimeError):
    """A tag on something that no delegate can take."""


class CyclicTags(ExportError, AssertionError):
    """Partitions that need each other's results."""


def error(message: str, kind: type[ExportError] = ExportError) -> ExportError:
    return kind(ExportErrorType.VIOLATION_OF_SPEC, message)


def _graphs(module: GraphModule, level: int) -> Iterator[tuple[GraphModule, int]]:
    yield module, level
    for _, child, call in get_control_flow_submodules(module):
        yield from _graphs(child, level + (TAG in call.meta))


def _partitions_of(module: GraphModule, level: int, result: PartitionResult) -> list[Partition]:
    by_tag: dict[str, list[Node]] = {}
    tag_of: dict[Node, str] = {}
    for node in module.graph.nodes:
        tag = _tag_of_call(node, tag_of)
        # What goes into a delegate with the branch that it stands in needs no delegate of its own.
        is_inside = level > 0 and tag not in result.partition_tags
        if tag is not None and not is_inside:
            tag_of[node] = tag
            by_tag.setdefault(tag, []).append(node)
    return [
        Partition(tag, _delegation(tag, nodes[0], result), module, level, nodes)
        for tag, nodes in by_tag.items()
    ]


def _tag_of_call(node: Node, tag_of: dict[Node, str]) -> str | None:
    """The tag of a call; items of several results always go with their call."""
    if node.op == "output" and node.meta.get(TAG) is not None:
        raise error(
            f"the output node has delegation tag {node.meta[TAG]!r}; expected tags on calls and on data placeholders. "
            "An output node should not be tagged: what a method returns is found by its users",
            WrongTag,
        )
    if node.op != "call_function":
        return None
    if node.target is operator.getitem:
        return tag_of.get(node.args[0])
    return node.meta.get(TAG)


def _delegation(tag: str, node: Node, result: PartitionResult) -> DelegationSpec:
    delegation = result.partition_tags.get(tag)
    if delegation is None:
        known = ", ".join(map(repr, result.partition_tags)) or "none"
        raise error(
            f"node {node.name} has delegation tag {tag!r}, which partition_tags does not hold (it holds: {known}); "
            "give every tag its DelegationSpec in PartitionResult.partition_tags"
        )
    return delegation


def _check_placeholders(program: ExportedProgram, result: PartitionResult) -> None:
    """Only data can be owned; arguments of branches come from outside."""
    specs = input_specs(program.graph_signature)
    for module, _ in _graphs(program.graph_module, 0):
        for node in module.graph.find_nodes(op="placeholder"):
            tag = node.meta.get(TAG)
            spec = specs.get(node.name) if module is program.graph_module else None
            if tag is not None and (spec is None or spec.kind not in DATA_KINDS):
                what = "an input of the method" if spec is not None else "an operand of a branch"
                raise error(
                    f"placeholder {node.name} has delegation tag {tag!r}, but it is {what}; expected a parameter, "
                    "buffer or constant: a placeholder node for non-params, non-buffer, and non-tensor constants "
                    "should not be tagged. Inputs become arguments of the delegate by themselves",
                    WrongTag,
                )


def _check_acyclic(module: GraphModule, partitions: list[Partition]) -> None:
    group = {node: index for index, one in enumerate(partitions) for node in one.nodes}
    try:
        groups_in_order(module.graph, group)
    except CyclicGroups as cycle:
        tags = " -> ".join(repr(partitions[index].tag) for index in cycle.groups)
        outside = f" through {', '.join(cycle.between)}" if cycle.between else ""
        raise error(
            f"Invalid partition, found dependency cycles: {tags}{outside}. Each delegate must be able to run in one "
            "step: expected that no value leaves a partition and comes back into it. Split the "
            "partition there, or claim the nodes between",
            CyclicTags,
        ) from None


# ---- Data ----


def _assign_data(program: ExportedProgram, partitions: list[Partition]) -> None:
    """Tagged constants go to each partition that reads them, tagged buffers with their writes to one."""
    signature = program.graph_signature
    specs = input_specs(signature)
    new_value = written_buffers(program)
    trained = {
        each.target
        for each in signature.output_specs
        if each.kind == OutputKind.GRADIENT_TO_PARAMETER
    }
    home = {node: one for one in partitions for node in one.nodes}
    for node in program.graph.find_nodes(op="placeholder"):
        if node.meta.get(TAG) is None:
            continue
        if specs[node.name].target in trained:
            raise error(_trained(node, specs[node.name].target))
        value = new_value.get(specs[node.name].target)
        if value is None:
            readers = dict.fromkeys(home[user] for user in node.users if user in home)
            if node.meta.get("no_copy"):
                _check_one_owner(node, home)
            for one in readers:
                one.owned.append(node)
        else:
            _assign_buffer(node, specs[node.name], value, home)


def _trained(node: Node, target: str) -> str:
    return (
        f"parameter {target} (placeholder {node.name}) has a gradient and delegation tag {node.meta[TAG]!r}: a "
        "delegate would keep the value of the export while an optimizer changes it. Claim no operators that read it, "
        "or freeze it (requires_grad_(False)) before torch.export.export"
    )


def _check_one_owner(node: Node, home: dict[Node, Partition]) -> None:
    """All that read a constant that must not be copied are in the delegate that owns it."""
    tag = node.meta[TAG]
    for user in node.users:
        other = home[user].tag if user in home else None
        if other != tag:
            raise error(
                f"constant data node ({node.name}) is tagged with ({tag}) but has user ({user.name}) which has tag "
                f"({other}), and meta['no_copy'] forbids that both have it; tag both alike, or leave no_copy out",
                WrongTag,
            )


def written_buffers(program: ExportedProgram) -> dict[str, Node]:
    """Target of a written buffer or parameter -> the node of its new value."""
    outputs = program.graph.output_node().args[0]
    return {
        spec.target: value
        for spec, value in zip(program.graph_signature.output_specs, outputs, strict=True)
        if spec.kind in _WRITES
    }


def _assign_buffer(node: Node, spec: InputSpec, value: Node, home: dict[Node, Partition]) -> None:
    writer = home.get(value)
    readers = [user for user in node.users if user.op != "output"]
    outside = [user for user in readers if home.get(user) is not writer]
    if writer is None or outside:
        place = f"{value.name} computes its new value outside of the delegate"
        if writer is not None:
            place = f"{', '.join(user.name for user in outside)} read it outside of the delegate"
        raise error(
            f"buffer {spec.target} (placeholder {node.name}) has delegation tag {node.meta[TAG]!r} and is written by "
            f"the method, but {place}; a delegate that writes a buffer must own it: expected all its readers "
            "and its new value in one partition. Leave the buffer untagged "
            "(tag_mutated_buffer tags only what can be owned)"
        )
    writer.owned.append(node)
    writer.written[node] = value
