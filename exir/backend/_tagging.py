# SPDX-License-Identifier: BSD-3-Clause
"""Runs a partitioner on a copy of a program and holds it to its contract: tags, and nothing else."""

from __future__ import annotations

import inspect
from typing import Any

from torch.export import ExportedProgram
from torch.fx import GraphModule, Node

from executorch.exir.backend.partitioner import Partitioner, PartitionResult
from executorch.exir.error import ExportError, ExportErrorType
from executorch.exir.program_copies import own_copy

_Line = tuple[str, str, Any, str]


class PartitionerError(ExportError, AssertionError):
    """A partitioner that did something else than tag."""


def tag_program(
    method: str, program: ExportedProgram, partitioner: Any, validate: bool = True
) -> PartitionResult:
    """The partitioner's result over a copy of `program` that may be edited; with `validate`, a partitioner that
    changed more than tags is refused."""
    copy = own_copy(program)
    name = (partitioner if inspect.isclass(partitioner) else type(partitioner)).__name__
    instance = _instance(partitioner)
    if isinstance(instance, Partitioner):
        instance.prepare(copy)
    before = graph_lines(copy.graph_module) if validate else []
    result = _result_of(instance, copy, name)
    tagged = result.tagged_exported_program
    if validate:
        _check_unchanged(before, graph_lines(tagged.graph_module), f"{name} on method {method}")
    if isinstance(instance, Partitioner):
        instance.finish(tagged)
    return result


def _instance(partitioner: Any) -> Any:
    instance = partitioner() if inspect.isclass(partitioner) else partitioner
    if not callable(getattr(instance, "partition", None)):
        raise ExportError(
            ExportErrorType.INVALID_INPUT_TYPE,
            f"expected a Partitioner or a class of one, found {partitioner!r}; a partitioner defines "
            "partition(exported_program) -> PartitionResult",
        )
    return instance


def _result_of(partitioner: Any, program: ExportedProgram, name: str) -> PartitionResult:
    call = partitioner if callable(partitioner) else partitioner.partition
    result = call(program)
    if isinstance(result, ExportedProgram):  # how partitioners returned before PartitionResult
        result = PartitionResult(result, getattr(partitioner, "partition_tags", None))
    tags = getattr(result, "partition_tags", None)
    if not isinstance(result, PartitionResult) or not isinstance(tags, dict):
        raise PartitionerError(
            ExportErrorType.INVALID_OUTPUT_TYPE,
            f"{name}.partition returned {type(result).__name__} with partition_tags {tags!r}; it needs a "
            "`partition_tags` field that maps each tag to a DelegationSpec, in a PartitionResult",
        )
    return result


def graph_lines(module: GraphModule, path: str = "") -> list[_Line]:
    """Everything a graph computes, one entry per node, branches included."""
    lines = []
    for node in module.graph.nodes:
        arguments = repr((_named(node.args), _named(node.kwargs)))
        lines.append((path + node.name, node.op, node.target, arguments))
    for name, child in module.named_children():
        if isinstance(child, GraphModule):
            lines.extend(graph_lines(child, f"{path}{name}."))
    return lines


def _named(tree: Any) -> Any:
    if isinstance(tree, Node):
        return f"%{tree.name}"
    if isinstance(tree, list | tuple):
        return [_named(item) for item in tree]
    if isinstance(tree, dict):
        return {key: _named(value) for key, value in tree.items()}
    return tree


def _check_unchanged(before: list[_Line], after: list[_Line], who: str) -> None:
    if before == after:
        return
    at = next((i for i, (a, b) in enumerate(zip(before, after)) if a != b), None)
    if at is None:
        at = min(len(before), len(after))
    expected = _show(before[at]) if at < len(before) else "the end of the graph"
    found = _show(after[at]) if at < len(after) else "the end of the graph"
    raise PartitionerError(
        ExportErrorType.VIOLATION_OF_SPEC,
        f"{who} should not modify the graph module, but changed the program: expected {expected}, found {found}. A "
        "partitioner may only set "
        'node.meta["delegation_tag"]; do rewrites in prepare(), finish(), or in preprocess',
    )


def _show(line: _Line) -> str:
    name, op, target, arguments = line
    return f"node {name} ({op} {target}, arguments {arguments})"
