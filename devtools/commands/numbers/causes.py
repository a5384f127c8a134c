# SPDX-License-Identifier: BSD-3-Clause
"""Why a program gives other numbers, what explains most first: ranges that calibration did not give, inputs that it did
not see, values beyond a type, layers whose values are cut, operators that differ from PyTorch's."""

from __future__ import annotations

from collections.abc import Sequence

from torch.fx import Node

from executorch.devtools.commands.numbers.overflow import (
    INFINITY,
    NAN,
    NEXT_STEP,
    OVERFLOW,
    SATURATED,
    UNDERFLOW,
    Broken,
)
from executorch.devtools.commands.numbers.ranges import CLIPPED, INPUTS, UNCALIBRATED, Cut
from executorch.devtools.commands.origins import origin_of
from executorch.devtools.commands.output.report import Row
from executorch.devtools.commands.reference import Compared

OPERATOR = "operator"
_IN_WORDS = {
    UNCALIBRATED: "an observer that was not calibrated",
    INPUTS: "inputs unlike those of the calibration",
    CLIPPED: "a layer whose values are cut to its quantized range",
    OVERFLOW: "numbers beyond the type",
    SATURATED: "numbers that stop at the end of the type",
    UNDERFLOW: "numbers too small for the type",
    NAN: "no number (NaN)",
    INFINITY: "infinities, in float64 as well",
}
_OPERATOR_STEP = "its kernel, its constants in the file (`explain`), how it was lowered"


def causes(cut: Sequence[Cut], broken: Sequence[Broken], wrong: Sequence[Compared]) -> list[Row]:
    """In order. Where PyTorch is finite in the same type, infinities are the operator's."""
    differ = {each.node.name for each in wrong}
    return [
        *(_of_cut(each) for each in cut if each.kind != CLIPPED),
        *(_of_broken(each) for each in broken if each.node.name not in differ),
        *(_of_cut(each) for each in cut if each.kind == CLIPPED),
        *(_of_wrong(each) for each in wrong),
    ]


def sentences(found: Sequence[Row]) -> list[str]:
    """Of the first; of an operator bisect says more."""
    if not found or found[0]["cause"] == OPERATOR:
        return []
    first, *others = found
    why = str(first["why"])
    where = f" (layer {first['layer']})" if first["layer"] else ""
    more = [f"{len(others)} more, which may follow from it."] if others else []
    return [
        f"Cause: {_IN_WORDS[str(first['cause'])]}. {why[:1].upper()}{why[1:]}.",
        f"  {first['line']}{where}",
        f"Next: {first['next step']}.",
        *more,
    ]


def _of_cut(each: Cut) -> Row:
    value = each.node.all_input_nodes[0]
    return _row(each.kind, value.name, each.source, each.why, each.next_step)


def _of_broken(each: Broken) -> Row:
    return _row(each.kind, each.node.name, each.source, str(each), NEXT_STEP)


def _of_wrong(each: Compared) -> Row:
    why = f"its own error is {each.own_error:.3g}; its operands are right"
    return _row(OPERATOR, each.node.name, each.source, why, _OPERATOR_STEP)


def _row(kind: str, operator: str, source: Node, why: str, step: str) -> Row:
    origin = origin_of(source)
    return {
        "cause": kind,
        "operator": operator,
        "layer": origin.module,
        "why": why,
        "line": str(origin),
        "next step": step,
    }
