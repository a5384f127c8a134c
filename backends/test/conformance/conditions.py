# SPDX-License-Identifier: BSD-3-Clause
"""The walk over the conditions of a backend's table: for each a call that is not delegated for that reason alone, and
is exact there. A condition that held for any call would have it delegated."""

from __future__ import annotations

import contextlib
from collections import Counter
from collections.abc import Callable, Iterable
from dataclasses import dataclass, field
from typing import Any

import torch
from torch import Tensor
from torch.utils import _pytree as pytree

from executorch.backends.test.conformance.lowered import load
from executorch.backends.test.corpus.row import Function
from executorch.exir import EdgeProgramManager, to_edge_transform_and_lower
from executorch.exir.backend.lowering.op_table import NO_ROW, OpTable
from executorch.exir.backend.lowering.partitioner import TablePartitioner
from executorch.exir.backend.partitioner import PartitionResult
from executorch.exir.graph_facts import call_name


@dataclass(frozen=True)
class Outside:
    """`row`: of the table; `code`: a module or function that calls its operator once, of `inputs`. `is_alone`: whether
    nothing else stands against the call; results mostly have the dtype of operands."""

    row: str
    reason: str
    code: torch.nn.Module | Callable[..., Any]
    inputs: tuple[Any, ...]
    dynamic_shapes: Any = None
    is_alone: bool = True

    @property
    def name(self) -> str:
        return f"{self.row}: {self.reason}"

    def module(self) -> torch.nn.Module:
        return self.code.eval() if isinstance(self.code, torch.nn.Module) else Function(self.code)


def outside(row: str, reason: str, code: Any, *inputs: Any, **how: Any) -> Outside:
    name = row if row.count(".") > 1 else f"aten.{row}"
    return Outside(name, reason, code, inputs, **how)


@dataclass
class Seen:
    """What a partitioner said of a program's calls: reasons by operator, and how many of each it claimed."""

    reasons: Counter[tuple[str, str]] = field(default_factory=Counter)
    claimed: Counter[str] = field(default_factory=Counter)
    others: set[str] = field(default_factory=set)  # reasons beside the first, of conditions of rows


def _others(table: OpTable[Any], node: Any, constants: Any, first: str) -> set[str]:
    """Conditions may rely on those before them, which `first` may be."""
    found = set()
    for each in (*table.of_calls, *table.row(node).conditions):
        with contextlib.suppress(Exception):
            if first and each.reason != first and not each.test(node, constants):
                found.add(each.reason)
    return found


def watched(partitioner: TablePartitioner) -> Seen:
    """From here on, what it says is noted."""
    seen, partition = Seen(), partitioner.partition

    def watch(program: torch.export.ExportedProgram) -> PartitionResult:
        constants = partitioner.analyze(program)
        for node in program.graph.nodes:
            reason = partitioner.table.why_not(node, constants) if call_name(node) else NO_ROW
            if reason != NO_ROW:
                seen.reasons[call_name(node), reason] += 1
                seen.others |= _others(partitioner.table, node, constants, reason)
        result = partition(program)
        for node in result.tagged_exported_program.graph.nodes:
            seen.claimed[call_name(node)] += "delegation_tag" in node.meta
        return result

    partitioner.partition = watch  # type: ignore[method-assign]
    return seen


def lowered(case: Outside, partitioner: TablePartitioner) -> tuple[Seen, EdgeProgramManager]:
    seen = watched(partitioner)
    shapes = {"dynamic_shapes": case.dynamic_shapes} if case.dynamic_shapes else {}
    exported = torch.export.export(case.module(), case.inputs, **shapes)
    return seen, to_edge_transform_and_lower(exported, partitioner=[partitioner])


def check_outside(case: Outside, partitioner: TablePartitioner) -> None:
    """The call stays for the reason, and the program computes what eager does, whoever has its other calls."""
    seen, manager = lowered(case, partitioner)
    assert seen.reasons[case.row, case.reason], dict(seen.reasons)
    assert not seen.claimed[case.row], dict(seen.claimed)
    of_rows = {each.reason for each in partitioner.table[case.row].conditions}
    is_alone = not case.is_alone or case.reason not in of_rows
    assert is_alone or not seen.others, f"not alone: {seen.others}"
    if any(seen.claimed.values()):  # a delegate, which another test runs
        return
    found = load(manager.to_executorch().buffer).run_method("forward", case.inputs)
    with torch.no_grad():
        expected = pytree.tree_leaves(case.module()(*case.inputs))
    for output, right in zip(found, expected, strict=True):
        if isinstance(right, Tensor):
            torch.testing.assert_close(output, right, rtol=1e-5, atol=1e-5, equal_nan=True)


def unwalked(table: OpTable[Any], cases: Iterable[Outside]) -> tuple[set[str], set[str]]:
    """Reasons of the table's rows, patterns left out, that no case has, and of cases that no row has. One call is
    enough for a condition that several rows share."""
    walked = {case.reason for case in cases}
    every = {each.reason for row in table.values() for each in row.conditions}
    return every - walked, walked - every
