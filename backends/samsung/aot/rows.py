# SPDX-License-Identifier: BSD-3-Clause
"""What the rows of ops.py are made of: the table with its modes, and conditions."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from typing import Any

import torch
from torch.fx import Node

from executorch.backends.samsung.aot.graph import AINT8, DTYPES, Parameter
from executorch.backends.samsung.aot.writer import GraphWriter
from executorch.exir.backend.lowering.mode_steps import (
    ModeStep,
    ModeTable,
    in_its_mode,
    is_float,
    qparams_of,
    static_qparams,
)
from executorch.exir.backend.lowering.op_table import (
    COMPUTED_AHEAD,
    CONTIGUOUS,
    Condition,
    Constants,
    Row,
    TensorCondition,
    of_static_tensors,
    when,
)
from executorch.exir.backend.lowering.quantized import (
    Quantization,
    is_dequantize,
    is_quantize,
    quantization_of,
)
from executorch.exir.backend.lowering.steps import sources_of
from executorch.exir.graph_facts import argument, call_name

Lower = Callable[[GraphWriter, ModeStep], Any]
MAX_RANK = 6
_ROUNDING = 1 + 1e-6  # of scales
OF_TENSORS = (
    TensorCondition(
        lambda tensor, call: getattr(tensor.meta.get("val"), "dtype", None) in DTYPES,
        "a tensor of floats of 16 or 32 bits, or of integers, is expected",
    ),
    *of_static_tensors(MAX_RANK),
    CONTIGUOUS,
)


@dataclass(frozen=True)
class EnnRow(Row):
    """`weights`: places of operands that are constants, of quantized calls quantized ones. `computes_in_floats`: of
    values that are quantized, too. `keeps_qparams`: computes on quantized values where results have the operands'.
    `has_floats`: constants beside quantized values may be floats, as biases and slopes are. `saturates`: limits behind
    it are those of the quantized result, or it computes in floats."""

    weights: tuple[int, ...] = field(default=(), kw_only=True)
    computes_in_floats: bool = field(default=False, kw_only=True)
    keeps_qparams: bool = field(default=False, kw_only=True)
    has_floats: bool = field(default=False, kw_only=True)
    saturates: bool = field(default=False, kw_only=True)


class EnnTable(ModeTable[EnnRow]):
    def __init__(self, rows: Mapping[str, EnnRow]) -> None:
        super().__init__(rows, OF_TENSORS, (COMPUTED_AHEAD,), step=ModeStep)

    def step_of(self, node: Node, constants: Constants) -> ModeStep:
        """A call, and the quantize behind it where all around it is int8 and its row computes so."""
        step = self.step_at(node)
        found = in_its_mode(step, constants)
        row = self.get(call_name(node))
        if found.is_quantized and row is not None and _computes_on_int8(found, row, constants):
            return found
        return ModeStep(step.head, step.result, step.calls, step.named, last=step.result)


def _computes_on_int8(step: ModeStep, row: EnnRow, constants: Constants) -> bool:
    if row.computes_in_floats or step.batch_norm is not None:
        return False
    if (
        row.saturates
        and step.limits is not None
        and not _is_within(qparams_of(step.result), *step.limits)
    ):
        return False
    args = step.head.args
    weights = [
        args[place] for place in row.weights if place < len(args) and args[place] is not None
    ]
    if not all(is_int8_weight(each) for each in weights):
        return False
    values = [each for each in sources_of(step) if is_float(each) and each not in weights]
    floats = [each for each in values if each in constants and not is_dequantize(each)]
    if not row.has_floats and any(each.meta["val"].numel() > 1 for each in floats):
        return False
    compared = [each for each in values if each not in floats]
    compared += weights if row.keeps_qparams else []
    found = [*map(quantization_of, compared), qparams_of(step.result)]
    return all(map(_is_int8, found)) and not (
        row.keeps_qparams and len({_numbers(q) for q in found}) > 1
    )


def _is_within(qparams: Quantization | None, least: float, most: float) -> bool:
    """Whether quantizing cuts to these limits, or closer."""
    if not _is_int8(qparams):
        return False
    scale, point = _numbers(qparams)
    low, high = scale * (qparams.quant_min - point), scale * (qparams.quant_max - point)
    return low >= least and high <= most * _ROUNDING


def _is_int8(qparams: Quantization | None) -> bool:
    limits = torch.iinfo(torch.int8)
    return (
        qparams is not None
        and qparams.is_static
        and qparams.dtype == torch.int8
        and (qparams.quant_min, qparams.quant_max) == (limits.min, limits.max)
    )


def _numbers(qparams: Quantization) -> tuple[float, int]:
    return float(qparams.scale), int(qparams.zero_point or 0)


def is_int8_weight(node: Node) -> bool:
    """With a scale, or one for each index of the first dimension."""
    qparams = quantization_of(node) if is_dequantize(node) else None
    if qparams is None or qparams.dtype != torch.int8:
        return False
    return qparams.axis in (None, 0) and qparams.group_size == 0


# ---- Rows ----


def row(lower: Lower, *conditions: Condition, preserved: bool = False, **more: Any) -> EnnRow:
    return EnnRow(lower, conditions, preserved, **more)


def in_floats(lower: Lower, *conditions: Condition, preserved: bool = False) -> EnnRow:
    return row(lower, *conditions, preserved=preserved, computes_in_floats=True)


def moved(lower: Lower, *conditions: Condition, **more: Any) -> EnnRow:
    """Of what copies values."""
    return row(lower, *conditions, keeps_qparams=True, **more)


def quant_dtype(step: ModeStep) -> dict[str, Parameter]:
    """A parameter of most operators that compute on quantized values."""
    return {"quant_dtype": AINT8} if step.is_quantized else {}


def alone(kind: str, says_dtype: bool = True) -> Lower:
    """An operator without parameters of its own, of all tensors that the call reads."""

    def lower(w: GraphWriter, step: ModeStep) -> None:
        tensors = [each for each in step.head.args if isinstance(each, Node)]
        w.give(kind, *map(w.operand, tensors), **(quant_dtype(step) if says_dtype else {}))

    return lower


# ---- Conditions ----


def windows(node: Node, name: str, default: Any = None) -> tuple[int, int]:
    """Of height and width; an empty list is none."""
    given = argument(node, name) or default
    given = [given] if isinstance(given, int) else list(given)
    return tuple(given * 2 if len(given) == 1 else given)


def _dtype(node: Node) -> torch.dtype:
    value = node.meta["val"]
    return (value[0] if isinstance(value, tuple | list) else value).dtype


def _gives_float(node: Node) -> bool:
    return _dtype(node) in (torch.float32, torch.float16)


def _has_int8_qparams(node: Node) -> bool:
    return _is_int8(static_qparams(node))


OF_FLOATS = when(
    lambda node: (
        _gives_float(node) and {_dtype(node)} == {*map(_dtype, [node, *node.all_input_nodes])}
    ),
    "floats of one type are expected",
)
FLOAT_RESULT = when(_gives_float, "a result of floats is expected")
INT8 = when(_has_int8_qparams, "int8 with one scale and zero point that are known is expected")
NO_QUANTIZED = when(
    lambda node: (
        not any(map(is_dequantize, node.all_input_nodes)) and not any(map(is_quantize, node.users))
    ),
    "no quantized values are expected",
)
