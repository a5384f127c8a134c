# SPDX-License-Identifier: BSD-3-Clause
"""Calls on both sides of a condition: those that are left for its reason, and those beside them, at its limit, that are
taken. For a backend's own test of its conditions: what is never refused, or always, is seen."""

from __future__ import annotations

import functools
from collections.abc import Callable, Iterable, Iterator
from dataclasses import dataclass, field, replace
from typing import Any

import torch
from torch.export import ExportedProgram

from executorch.backends.test.conformance.single_call import (
    OPERAND,
    RESULT,
    Call,
    Numbers,
    program_of,
)
from executorch.backends.test.corpus.row import Function
from executorch.exir import EdgeCompileConfig, to_edge
from executorch.exir.backend.lowering.op_table import Condition
from executorch.exir.backend.lowering.partitioner import TablePartitioner
from executorch.exir.graph_facts import call_name

# Why the call of that name is left; empty where it is taken.
WhyNot = Callable[[ExportedProgram, str], str]


@dataclass(frozen=True, eq=False, repr=False)
class Among:
    """A call among others, or of sizes that vary: `code`, a module or function of `inputs`, has calls of operator
    `name`, which stay whole."""

    name: str
    code: Any
    inputs: tuple[Any, ...]
    dynamic_shapes: Any = None

    def program(self) -> ExportedProgram:
        module = self.code if isinstance(self.code, torch.nn.Module) else Function(self.code)
        exported = torch.export.export(
            module.eval(), self.inputs, dynamic_shapes=self.dynamic_shapes, strict=False
        )
        op = functools.reduce(getattr, self.name.split("."), torch.ops)
        config = EdgeCompileConfig(preserve_ops=[op], _check_ir_validity=False)
        return to_edge(exported, compile_config=config).exported_program()

    def __repr__(self) -> str:
        line = getattr(getattr(self.code, "__code__", None), "co_firstlineno", "module")
        sizes = [list(each.shape) for each in self.inputs if isinstance(each, torch.Tensor)]
        return f"{self.name} of {sizes}, line {line}"


def among(name: str, code: Any, *inputs: Any, **how: Any) -> Among:
    return Among(name if name.count(".") > 1 else f"aten.{name}", code, inputs, **how)


def claimed_by(partitioner: TablePartitioner) -> WhyNot:
    """Of calls alone, whatever becomes of pieces: the first reason against one of that name."""

    def why_not(program: ExportedProgram, name: str) -> str:
        constants = partitioner.analyze(program)
        calls = [node for node in program.graph.nodes if call_name(node) == name]
        answers = [partitioner.claim(node, program, constants) for node in calls]
        if not answers:
            return f"there is none among {set(map(call_name, program.graph.nodes))}"
        return next((each for each in answers if isinstance(each, str)), "")

    return why_not


@dataclass(frozen=True)
class Case:
    """`reason`: the condition, or how what is said begins. `operand`, `result`: of stored values. `setting`: what the
    backend's own test makes of it."""

    reason: Condition | str
    refused: list[Call | Among] = field(default_factory=list)
    taken: list[Call | Among] = field(default_factory=list)
    operand: Numbers | None = None
    result: Numbers | None = None
    setting: Any = None

    def stored(self, operand: Numbers = OPERAND, result: Numbers = RESULT) -> Case:
        return replace(self, operand=operand, result=result)

    def disagreements(self, why_not: WhyNot) -> Iterator[str]:
        reason = self.reason if isinstance(self.reason, str) else self.reason.reason
        for call in self.refused:
            found = why_not(self._program(call), call.name)
            if not found.startswith(reason):
                yield f"{call}: {found or 'taken'}; expected: {reason}"
        for call in self.taken:
            found = why_not(self._program(call), call.name)
            if found:
                yield f"{call}: {found}; expected to be taken"

    def _program(self, call: Call | Among) -> ExportedProgram:
        is_among = isinstance(call, Among)
        return call.program() if is_among else program_of(call, self.operand, self.result)


def without_case(known: Iterable[object], cases: Iterable[Case]) -> set[str]:
    """Reasons of conditions that no case is of."""
    tried = {each.reason if isinstance(each.reason, str) else each.reason.reason for each in cases}
    flat = [one for each in known for one in (each if isinstance(each, tuple) else (each,))]
    return {each.reason for each in flat if isinstance(each, Condition)} - tried
