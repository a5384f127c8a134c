# SPDX-License-Identifier: BSD-3-Clause
"""Rows of what computes element by element."""

from __future__ import annotations

import torch

from executorch.backends.samsung.aot.graph import DTYPES
from executorch.backends.samsung.aot.rows import (
    INT8,
    NO_QUANTIZED,
    OF_FLOATS,
    EnnRow,
    Lower,
    alone,
    in_floats,
    quant_dtype,
    row,
)
from executorch.backends.samsung.aot.writer import GraphWriter
from executorch.exir.backend.lowering.mode_steps import ModeStep, static_qparams
from executorch.exir.backend.lowering.op_table import NO_FACTOR, Condition, is_constant, when
from executorch.exir.backend.lowering.steps import has_limits, limits_of
from executorch.exir.graph_facts import argument

_FLOAT32 = torch.finfo(torch.float32)


def _clip(w: GraphWriter, step: ModeStep) -> None:
    low, high = limits_of(step.head)
    limits = {"minimum": max(low, _FLOAT32.min), "maximum": min(high, _FLOAT32.max)}
    w.give("CLIP", w.take(step.head.args[0]), **limits, **quant_dtype(step))


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


# Of crossed ones PyTorch gives the upper, and nobody says what CLIP does.
LIMITS = when(has_limits, "limits that are numbers, the lower not above the upper, are expected")
EXACT = when(
    lambda node: argument(node, "approximate", "none") == "none",
    "an approximate of none is expected",
)
SLOPES = Condition(is_constant("weight"), "slopes that are static are expected")
_Q = "quantized_decomposed"

ROWS: dict[str, EnnRow] = {
    "aten.add.Tensor": row(alone("ELTSUM"), OF_FLOATS, NO_FACTOR),
    "aten.sub.Tensor": row(alone("SUB", says_dtype=False), OF_FLOATS, NO_FACTOR),
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
    "aten.clamp.default": row(_clip, OF_FLOATS, LIMITS),
    "aten.hardtanh.default": row(_clip, OF_FLOATS, LIMITS),
    "aten.leaky_relu.default": row(_leaky_relu, OF_FLOATS, preserved=True),
    "aten.prelu.default": row(_prelu, OF_FLOATS, SLOPES, preserved=True, has_floats=True),
    "aten._to_copy.default": in_floats(_cast, NO_QUANTIZED),
    "dim_order_ops._to_dim_order_copy.default": in_floats(_cast, NO_QUANTIZED),
    f"{_Q}.quantize_per_tensor.default": in_floats(_converted("QUANTIZE"), INT8),
    f"{_Q}.dequantize_per_tensor.default": in_floats(_converted("DEQUANTIZE"), INT8),
}
