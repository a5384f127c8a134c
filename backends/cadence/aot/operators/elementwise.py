# SPDX-License-Identifier: BSD-3-Clause
"""float32 to stored values and back; sums, products and limits of them, element by element."""

from __future__ import annotations

import operator
from collections.abc import Callable

import torch
from torch import Tensor

from executorch.backends.cadence.aot.operators.library import LIBRARY, of_8_bits, scale_of
from executorch.exir.backend.lowering.kernels.formulas import (
    Number,
    as_dtype,
    by_scale,
    dequantize_per_tensor,
    float32,
    quantize_per_tensor,
    real,
    subtract_zero_point,
)

_WIDTHS = ("", "_asym8s", "_asym8u", "_asym16s", "_asym16u", "_asym32s")


LIBRARY.implement(*(f"quantize_per_tensor{each}" for each in _WIDTHS))(quantize_per_tensor)
LIBRARY.implement(*(f"dequantize_per_tensor{each}" for each in _WIDTHS))(dequantize_per_tensor)


@LIBRARY.implement("requantize", "requantize.per_tensor")
def requantize(
    input: Tensor,
    in_scale: Number,
    in_zero_point: Number,
    out_scale: Number,
    out_zero_point: Number,
    out_dtype: torch.dtype,
) -> Tensor:
    values = real(input, in_scale, in_zero_point)
    return by_scale(values, out_scale, out_zero_point, out_dtype)


def _of_two(compute: Callable[[Tensor, Tensor], Tensor]) -> Callable[..., Tensor]:
    def quantized(
        X: Tensor,
        X_scale: Number,
        X_zero_point: Number,
        Y: Tensor,
        Y_scale: Number,
        Y_zero_point: Number,
        out_scale: float,
        out_zero_point: int,
    ) -> Tensor:
        values = compute(real(X, X_scale, X_zero_point), real(Y, Y_scale, Y_zero_point))
        return by_scale(values, out_scale, out_zero_point, X.dtype)

    return quantized


def _with_a_number(compute: Callable[[Tensor, Tensor], Tensor]) -> Callable[..., Tensor]:
    def quantized(
        X: Tensor,
        X_scale: Number,
        X_zero_point: Number,
        Y: float,
        out_scale: float,
        out_zero_point: int,
    ) -> Tensor:
        values = compute(real(X, X_scale, X_zero_point), float32(Y))
        return by_scale(values, out_scale, out_zero_point, X.dtype)

    return quantized


quantized_add = LIBRARY.implement(
    "quantized_add", "quantized_add.per_tensor", *of_8_bits("quantized_add")
)(_of_two(operator.add))
quantized_mul = LIBRARY.implement("quantized_mul", "quantized_mul.per_tensor")(
    _of_two(operator.mul)
)
quantized_add_Scalar = LIBRARY.implement("quantized_add_Scalar")(_with_a_number(operator.add))
quantized_mul_Scalar = LIBRARY.implement("quantized_mul_Scalar")(_with_a_number(operator.mul))


@LIBRARY.implement(
    "quantized_relu",
    "quantized_relu.per_tensor",
    *of_8_bits("quantized_relu", "asym{0}_asym{0}"),
)
def quantized_relu(
    X: Tensor,
    X_zero_point: Number,
    out_zero_point: int,
    out_multiplier: Number,
    out_shift: Number,
) -> Tensor:
    above = torch.relu(subtract_zero_point(X_zero_point, X))
    return as_dtype(above, scale_of(out_multiplier, out_shift), out_zero_point, X.dtype)


@LIBRARY.implement("where_Scalar")
def where_scalar(condition: Tensor, self: float, other: float) -> Tensor:
    if condition.dtype != torch.bool:
        raise ValueError(f"where_Scalar: a condition of bool is expected, found {condition.dtype}")
    return torch.where(condition, float32(self), float32(other))
