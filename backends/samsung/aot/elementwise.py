# SPDX-License-Identifier: BSD-3-Clause
"""Rows of what computes element by element."""

from __future__ import annotations

import torch
from torch.fx import Node

from executorch.backends.samsung.aot.graph import DTYPES
from executorch.backends.samsung.aot.rows import (
    ALPHA,
    INT8,
    NO_QUANTIZED,
    OF_FLOATS,
    EnnRow,
    Lower,
    alone,
    in_floats,
    is_constant,
    quant_dtype,
    row,
)
from executorch.backends.samsung.aot.writer import GraphWriter
from executorch.exir.backend.lowering.mode_steps import ModeStep, static_qparams
from executorch.exir.backend.lowering.op_table import Condition, when
from executorch.exir.graph_facts import argument

_FLOAT32 = torch.finfo(torch.float32)


def _clip(low: str, high: str, least: float, most: float) -> Lower:
    """`low`, `high`: names of the limits; `least`, `most`: where there is none."""

    def lower(w: GraphWriter, step: ModeStep) -> None:
        limits = argument(step.head, low), argument(step.head, high)
        low_value, high_value = (
            float(default if limit is None else limit)
            for limit, default in zip(limits, (least, most), strict=True)
        )
        source = w.take(step.head.args[0])
        w.give("CLIP", source, minimum=low_value, maximum=high_value, **quant_dtype(step))

    return lower


def _leaky_relu(w: GraphWriter, step: ModeStep) -> None:
    slope = torch.tensor(float(argument(step.head, "negative_slope", 0.01)))
    x = step.head.args[0]
    slopes = w.constant(f"{step.head.name}_slope", slope.to(x.meta["val"].dtype))
    w.give("PRELU", w.take(x), slopes)


def _prelu(w: GraphWriter, step: ModeStep) -> None:
    """Slopes are floats, also of quantized values."""
    x, slopes = step.head.args[:2]
    w.give("PRELU", w.take(x), w.constant(slopes.name, w.constants[slopes]))


def _cast(w: GraphWriter, step: ModeStep) -> None:
    w.give("CAST", w.take(step.head.args[0]), out_dtype=DTYPES[step.head.meta["val"].dtype])


def _converted(kind: str) -> Lower:
    """By the numbers of the call."""

    def lower(w: GraphWriter, step: ModeStep) -> None:
        qparams = static_qparams(step.head)
        numbers = {
            "scales": (float(qparams.scale),),
            "zero_points": (int(qparams.zero_point),),
        }
        w.give(kind, w.take(step.head.args[0]), **numbers)

    return lower


def _has_numbers(node: Node) -> bool:
    names = ("min", "max", "min_val", "max_val")
    return not any(isinstance(argument(node, name), Node) for name in names)


def _are_ordered(node: Node) -> bool:
    """Of crossed ones PyTorch gives the upper, and nobody says what CLIP does."""
    low, high = (argument(node, name) for name in ("min", "max"))
    return low is None or high is None or low <= high


LIMITS = when(_has_numbers, "limits that are numbers are expected")
ORDERED = when(_are_ordered, "a lower limit that is not above the upper is expected")
EXACT = when(
    lambda node: argument(node, "approximate", "none") == "none",
    "an approximate of none is expected",
)
SLOPES = Condition(is_constant("weight"), "slopes that are static are expected")
_Q = "quantized_decomposed"

ROWS: dict[str, EnnRow] = {
    "aten.add.Tensor": row(alone("ELTSUM"), OF_FLOATS, ALPHA),
    "aten.sub.Tensor": row(alone("SUB", says_dtype=False), OF_FLOATS, ALPHA),
    "aten.mul.Tensor": row(alone("ELTMUL"), OF_FLOATS),
    "aten.div.Tensor": row(alone("ELTDIV"), OF_FLOATS),
    "aten.maximum.default": row(alone("MAXIMUM", says_dtype=False), OF_FLOATS, keeps_qparams=True),
    "aten.minimum.default": row(alone("MIN", says_dtype=False), OF_FLOATS, keeps_qparams=True),
    "aten.relu.default": row(alone("RELU"), OF_FLOATS),
    "aten.gelu.default": row(alone("GELU"), OF_FLOATS, EXACT),
    "aten.hardswish.default": row(alone("HARDSWISH"), OF_FLOATS, preserved=True),
    "aten.hardsigmoid.default": row(alone("HardSigmoid"), OF_FLOATS, preserved=True),
    "aten.sqrt.default": row(alone("SQRT", says_dtype=False), OF_FLOATS),
    "aten.rsqrt.default": row(alone("RSQRT", says_dtype=False), OF_FLOATS),
    "aten.clamp.default": row(
        _clip("min", "max", _FLOAT32.min, _FLOAT32.max), OF_FLOATS, LIMITS, ORDERED
    ),
    "aten.hardtanh.default": row(_clip("min_val", "max_val", -1.0, 1.0), OF_FLOATS, LIMITS),
    "aten.leaky_relu.default": row(_leaky_relu, OF_FLOATS, preserved=True),
    "aten.prelu.default": row(_prelu, OF_FLOATS, SLOPES, preserved=True, has_floats=True),
    "aten._to_copy.default": in_floats(_cast, NO_QUANTIZED),
    "dim_order_ops._to_dim_order_copy.default": in_floats(_cast, NO_QUANTIZED),
    f"{_Q}.quantize_per_tensor.default": in_floats(_converted("QUANTIZE"), INT8),
    f"{_Q}.dequantize_per_tensor.default": in_floats(_converted("DEQUANTIZE"), INT8),
}
