# SPDX-License-Identifier: BSD-3-Clause
"""What the rows of ops.py are made of: the table, conditions, and the layouts in which rows run."""

from __future__ import annotations

from collections.abc import Callable, Collection, Mapping, Sequence
from dataclasses import dataclass, field, replace
from typing import Any

import torch
from torch.fx import Node

from executorch.backends.nxp.aot.writer import TfliteWriter
from executorch.exir.backend.lowering.annotation import NOT_QUANTIZED, Annotation, Kind
from executorch.exir.backend.lowering.layout import NHWC, PLAIN, Candidates, alike, plain
from executorch.exir.backend.lowering.mode_steps import ModeStep, ModeTable, is_float, qparams_of
from executorch.exir.backend.lowering.op_table import (
    COMPUTED_AHEAD,
    Condition,
    Constants,
    Row,
    of_static_tensors,
    when,
)
from executorch.exir.backend.lowering.quantized import (
    Quantization,
    is_dequantize,
    quantization_of,
)
from executorch.exir.backend.lowering.steps import LIMITS, sources_of
from executorch.exir.graph_facts import argument

Lower = Callable[[TfliteWriter, ModeStep], Any]
StepTest = Callable[[ModeStep, Constants], bool]
MAX_RANK = 6
Limited = tuple[float, int]  # scale and zero point


@dataclass(frozen=True)
class NeutronRow(Row):
    """`weights`: places of operands that are constants in a form of their own. `is_idle`: for which calls the NPU has
    nothing to compute."""

    weights: tuple[int, ...] = field(default=(), kw_only=True)
    is_idle: StepTest = field(default=lambda step, constants: False, kw_only=True)


@dataclass(frozen=True)
class StepCondition(Condition):
    """Its test is of the call as it is computed on quantized values: a step of the table."""


class NeutronTable(ModeTable[NeutronRow]):
    def __init__(self, rows: Mapping[str, NeutronRow]) -> None:
        made = {name: self._bound(each) for name, each in rows.items()}
        super().__init__(made, of_static_tensors(MAX_RANK), (COMPUTED_AHEAD,), step=ModeStep)

    def _bound(self, made: NeutronRow) -> NeutronRow:
        """What every call must be comes before its row's own conditions."""
        checks = [_quantized(made.weights), _int8(made.weights), *made.conditions]
        return replace(made, conditions=tuple(map(self._of_call, checks)))

    def _of_call(self, condition: Condition) -> Condition:
        if not isinstance(condition, StepCondition):
            return condition
        return Condition(
            lambda node, constants: condition.test(self.step_of(node, constants), constants),
            condition.reason,
        )


# ---- Layouts ----


def either(step: ModeStep, operands: Sequence[Node]) -> Candidates:
    """What computes element by element, or along dimensions that it is told. Operands of fewer dimensions line up with
    plain ones only, unless they are constants."""
    rank = step.head.meta["val"].dim()
    has_channels = rank > 2 and all(each.meta["val"].dim() == rank for each in operands)
    return alike(operands, PLAIN, NHWC) if has_channels else plain(step, operands)


# ---- Facts ----


def sizes_of(node: Node) -> list[int]:
    """Of a tensor, or of the first of several."""
    value = node.meta["val"]
    return [int(each) for each in (value[0] if isinstance(value, tuple | list) else value).shape]


def windows(node: Node, name: str, dims: int, default: Any = None) -> list[int]:
    """One number for each dimension; an empty list is none."""
    given = argument(node, name) or default
    given = [given] if isinstance(given, int) else list(given)
    return given * dims if len(given) == 1 else given


def floats_read(step: ModeStep) -> list[Node]:
    return [each for each in sources_of(step) if is_float(each)]


def numbers(qparams: Quantization) -> Limited:
    return float(qparams.scale), int(qparams.zero_point or 0)


def result_numbers(step: ModeStep) -> Limited:
    return numbers(qparams_of(step.result))


def operand_numbers(step: ModeStep) -> list[Limited]:
    """Of what it reads with one scale."""
    found = [quantization_of(each) for each in floats_read(step) if is_dequantize(each)]
    return [numbers(each) for each in found if each.is_static]


# ---- Conditions ----


def _values_of(step: ModeStep, weights: Collection[int]) -> list[Node]:
    """Floats that it reads beside its weights."""
    args = step.head.args
    own = [args[place] for place in weights if place < len(args)]
    return [each for each in floats_read(step) if each not in own]


def _quantized(weights: Collection[int]) -> StepCondition:
    return StepCondition(
        lambda step, constants: (
            step.is_quantized and all(map(is_dequantize, _values_of(step, weights)))
        ),
        "not quantized: a dequantize before each operand and a quantize behind the result are expected",
    )


def _int8(weights: Collection[int]) -> StepCondition:
    def test(step: ModeStep, constants: Constants) -> bool:
        values = [quantization_of(each) for each in _values_of(step, weights)]
        return all(
            each is not None and each.is_static and each.dtype == torch.int8
            for each in (*values, qparams_of(step.result))
        )

    return StepCondition(test, "int8 with one scale and zero point is expected")


def _keeps_qparams(step: ModeStep, constants: Constants) -> bool:
    return {result_numbers(step)} == set(operand_numbers(step))


SAME_QPARAMS = StepCondition(
    _keeps_qparams, "a result with the scale and zero point of the operands is expected"
)


def result_is(scale: float, zero_point: int, text: str) -> Condition:
    return StepCondition(
        lambda step, constants: result_numbers(step) == (scale, zero_point),
        f"a result with scale {text} and zero point {zero_point} is expected",
    )


def most(limit: int, values: Callable[[Node], Sequence[int]], what: str) -> Condition:
    return when(
        lambda node: all(each <= limit for each in values(node)),
        f"{what} of at most {limit} is expected",
    )


def row(lower: Lower, *conditions: Condition, annotation: Annotation = NOT_QUANTIZED, preserved: bool = False,
        **more: Any) -> NeutronRow:  # fmt: skip
    """Limits behind convolutions and arithmetic are a part of it, for which the quantizer takes them."""
    if annotation.kind in (Kind.GEMM, Kind.ARITHMETIC):
        more.setdefault("tail", LIMITS)
    return NeutronRow(lower, conditions, preserved, annotation=annotation, **more)


def alone(kind: str, options: str = "", **fields: Any) -> Lower:
    """An operator of all tensors that the call reads."""

    def lower(w: TfliteWriter, step: ModeStep) -> None:
        tensors = [each for each in step.head.args if isinstance(each, Node)]
        w.give(kind, *map(w.take, tensors), options=options, **fields)

    return lower
