# SPDX-License-Identifier: BSD-3-Clause
"""Calls on both sides of a condition: those that are left for its reason, and those beside them, at its limit, that are
taken. For a backend's own test of its conditions: what is never refused, or always, is seen."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator
from dataclasses import dataclass, field, replace
from typing import Any

from torch.export import ExportedProgram

from executorch.backends.test.conformance.single_call import (
    OPERAND,
    RESULT,
    Call,
    Numbers,
    program_of,
)
from executorch.exir.backend.lowering.op_table import Condition

# Why the call of that name is left; empty where it is taken.
WhyNot = Callable[[ExportedProgram, str], str]


@dataclass(frozen=True)
class Case:
    """`reason`: the condition, or how what is said begins. `operand`, `result`: of stored values. `setting`: what the
    backend's own test makes of it."""

    reason: Condition | str
    refused: list[Call] = field(default_factory=list)
    taken: list[Call] = field(default_factory=list)
    operand: Numbers | None = None
    result: Numbers | None = None
    setting: Any = None

    def stored(self, operand: Numbers = OPERAND, result: Numbers = RESULT) -> Case:
        return replace(self, operand=operand, result=result)

    def disagreements(self, why_not: WhyNot) -> Iterator[str]:
        reason = self.reason if isinstance(self.reason, str) else self.reason.reason
        for call in self.refused:
            found = why_not(program_of(call, self.operand, self.result), call.name)
            if not found.startswith(reason):
                yield f"{call}: {found or 'taken'}; expected: {reason}"
        for call in self.taken:
            found = why_not(program_of(call, self.operand, self.result), call.name)
            if found:
                yield f"{call}: {found}; expected to be taken"


def without_case(known: Iterable[object], cases: Iterable[Case]) -> set[str]:
    """Reasons of conditions that no case is of."""
    tried = {each.reason if isinstance(each.reason, str) else each.reason.reason for each in cases}
    flat = [one for each in known for one in (each if isinstance(each, tuple) else (each,))]
    return {each.reason for each in flat if isinstance(each, Condition)} - tried
