# SPDX-License-Identifier: BSD-3-Clause
"""Operators that quantized kernels run in one go, each with the decomposed form it stands for."""

from __future__ import annotations

from typing import Any

import torch
from torch.ao.quantization.fx._decomposed import (
    quantized_decomposed_lib as quantized_decomposed_lib,
)

from executorch.exir.dialects._ops import bind_pattern_to_op

_ADD = (
    "Tensor a, float a_scale, int a_zero_point, int a_quant_min, int a_quant_max, "
    "Tensor b, float b_scale, int b_zero_point, int b_quant_min, int b_quant_max, "
    "float out_scale, int out_zero_point, int out_quant_min, int out_quant_max"
)
_ADD_SCALAR = (
    "Tensor qa, float a_scale, int a_zero_point, int a_quant_min, int a_quant_max, ScalarType a_dtype, Scalar b, "
    "float out_scale, int out_zero_point, int out_quant_min, int out_quant_max, ScalarType out_dtype"
)
_EMBEDDING = (
    "Tensor weight, Tensor weight_scales, Tensor? weight_zero_points, int weight_quant_min, int weight_quant_max, "
    "Tensor indices"
)
lib = torch.library.Library("quantized_decomposed", "FRAGMENT")
lib.define(f"add({_ADD}) -> Tensor qc")
lib.define(f"add.out({_ADD}, *, Tensor(a!) out) -> Tensor(a!)")
lib.define(f"embedding_byte({_EMBEDDING}) -> Tensor")
lib.define(f"embedding_byte.dtype({_EMBEDDING}, *, ScalarType? dtype=None) -> Tensor")


def _dequantized(
    x: torch.Tensor, scale: float, zero_point: int, quant_min: int, quant_max: int
) -> torch.Tensor:
    dequantize = torch.ops.quantized_decomposed.dequantize_per_tensor
    return dequantize(x, scale, zero_point, quant_min, quant_max, x.dtype)


@bind_pattern_to_op(lib, "add")
def add(
    a: torch.Tensor, a_scale: float, a_zero_point: int, a_quant_min: int, a_quant_max: int,
    b: torch.Tensor, b_scale: float, b_zero_point: int, b_quant_min: int, b_quant_max: int,
    out_scale: float, out_zero_point: int, out_quant_min: int, out_quant_max: int,
) -> torch.Tensor:  # fmt: skip
    quantized = torch.ops.quantized_decomposed
    total = torch.ops.aten.add.Tensor(
        _dequantized(a, a_scale, a_zero_point, a_quant_min, a_quant_max),
        _dequantized(b, b_scale, b_zero_point, b_quant_min, b_quant_max),
    )
    return quantized.quantize_per_tensor(
        total, out_scale, out_zero_point, out_quant_min, out_quant_max, a.dtype
    )


@bind_pattern_to_op(lib, f"add_relu({_ADD}) -> Tensor qc")
def add_relu(
    a: torch.Tensor, a_scale: float, a_zero_point: int, a_quant_min: int, a_quant_max: int,
    b: torch.Tensor, b_scale: float, b_zero_point: int, b_quant_min: int, b_quant_max: int,
    out_scale: float, out_zero_point: int, out_quant_min: int, out_quant_max: int,
) -> torch.Tensor:  # fmt: skip
    """No kernel runs it whole: to_edge decomposes it."""
    quantized = torch.ops.quantized_decomposed
    total = torch.ops.aten.add.Tensor(
        _dequantized(a, a_scale, a_zero_point, a_quant_min, a_quant_max),
        _dequantized(b, b_scale, b_zero_point, b_quant_min, b_quant_max),
    )
    return quantized.quantize_per_tensor(
        torch.ops.aten.relu.default(total),
        out_scale, out_zero_point, out_quant_min, out_quant_max, a.dtype,
    )  # fmt: skip


@bind_pattern_to_op(lib, f"add.scalar({_ADD_SCALAR}) -> Tensor")
def add_scalar(
    qa: torch.Tensor, a_scale: float, a_zero_point: int, a_quant_min: int, a_quant_max: int,
    a_dtype: torch.dtype, b: float, out_scale: float, out_zero_point: int, out_quant_min: int,
    out_quant_max: int, out_dtype: torch.dtype,
) -> torch.Tensor:  # fmt: skip
    """No kernel runs it whole: to_edge decomposes it."""
    quantized = torch.ops.quantized_decomposed
    total = torch.ops.aten.add.Scalar(
        quantized.dequantize_per_tensor(
            qa, a_scale, a_zero_point, a_quant_min, a_quant_max, a_dtype
        ),
        b,
    )
    return quantized.quantize_per_tensor(
        total, out_scale, out_zero_point, out_quant_min, out_quant_max, out_dtype
    )


def embedding_byte(
    weight: torch.Tensor,
    weight_scales: torch.Tensor,
    weight_zero_points: torch.Tensor | None,
    weight_quant_min: int,
    weight_quant_max: int,
    indices: torch.Tensor,
    *,
    dtype: torch.dtype | None = None,
) -> torch.Tensor:
    """Rows of `weight` as floats: (w - zero point) * scale, one of each per row or per group of a row's columns."""
    rows = weight[indices].to(weight_scales.dtype)
    scales = weight_scales.reshape(weight.shape[0], -1)
    grouped = rows.reshape(*indices.shape, scales.shape[1], -1)
    if weight_zero_points is not None:
        points = weight_zero_points.reshape(scales.shape)[indices]
        grouped = grouped - points.to(grouped.dtype).unsqueeze(-1)
    return (grouped * scales[indices].unsqueeze(-1)).reshape(rows.shape).to(dtype or rows.dtype)


def _unpacked(weight: torch.Tensor, bits: int) -> torch.Tensor:
    """Of 4 bits the first stands in the high half of a byte, of 2 bits in the lowest; the least is stored as 0."""
    shifts = [4, 0] if bits == 4 else [0, 2, 4, 6]
    codes = torch.stack([weight >> shift & ((1 << bits) - 1) for shift in shifts], -1)
    return (codes.flatten(-2).to(torch.int16) - (1 << bits - 1)).to(torch.int8)


def embedding_4bit(weight: torch.Tensor, *arguments: Any, **options: Any) -> torch.Tensor:
    """`embedding_byte` of a table with two values to a byte."""
    return embedding_byte(_unpacked(weight, 4), *arguments, **options)


def embedding_2bit(weight: torch.Tensor, *arguments: Any, **options: Any) -> torch.Tensor:
    """`embedding_byte` of a table with four values to a byte."""
    return embedding_byte(_unpacked(weight, 2), *arguments, **options)


def pack_embedding_weight(weight: torch.Tensor, bitwidth: int) -> torch.Tensor:
    """A table of signed values as `embedding_4bit` and `embedding_2bit` store it."""
    codes = (weight + (1 << bitwidth - 1)).to(torch.uint8)
    if bitwidth == 4:
        return codes[:, ::2] << 4 | codes[:, 1::2]
    if bitwidth == 2:
        return codes[:, ::4] | codes[:, 1::4] << 2 | codes[:, 2::4] << 4 | codes[:, 3::4] << 6
    raise ValueError(f"_pack_embedding_weight: expected a bitwidth of 2 or 4, found {bitwidth}")


def _rows_dequantized(
    weight: torch.Tensor, scales: torch.Tensor, points: torch.Tensor | None
) -> torch.Tensor:
    rows = torch.arange(weight.shape[0], device=weight.device)
    return embedding_byte(weight, scales, points, -128, 127, rows)


def mixed_mm(
    input: torch.Tensor,
    weight: torch.Tensor,
    weight_scales: torch.Tensor,
    weight_zero_points: torch.Tensor | None,
) -> torch.Tensor:
    """Floats by bytes: each row of `weight` has a scale."""
    return input @ _rows_dequantized(weight, weight_scales, weight_zero_points).to(input.dtype)


def mixed_linear(
    input: torch.Tensor,
    weight: torch.Tensor,
    weight_scales: torch.Tensor,
    weight_zero_points: torch.Tensor | None,
    dtype: torch.dtype | None = None,
) -> torch.Tensor:
    """Floats by transposed bytes: each row of `weight`, or each group of a row's columns, has a scale."""
    rows = _rows_dequantized(weight, weight_scales, weight_zero_points)
    return (input @ rows.to(input.dtype).t()).to(dtype or input.dtype)


lib.define(f"embedding_byte.out({_EMBEDDING}, *, Tensor(a!) out) -> Tensor(a!)")
_DTYPE = "ScalarType? dtype=None"
lib.define(f"embedding_byte.dtype_out({_EMBEDDING}, *, {_DTYPE}, Tensor(a!) out) -> Tensor(a!)")
for _name, _function in (("embedding_4bit", embedding_4bit), ("embedding_2bit", embedding_2bit)):
    lib.define(f"{_name}({_EMBEDDING}) -> Tensor")
    lib.define(f"{_name}.dtype({_EMBEDDING}, *, {_DTYPE}) -> Tensor")
    lib.define(f"{_name}.out({_EMBEDDING}, *, Tensor(a!) out) -> Tensor(a!)")
    lib.define(f"{_name}.dtype_out({_EMBEDDING}, *, {_DTYPE}, Tensor(a!) out) -> Tensor(a!)")
    lib.impl(_name, _function, "CompositeExplicitAutograd")
    lib.impl(f"{_name}.dtype", _function, "CompositeExplicitAutograd")
lib.impl("embedding_byte", embedding_byte, "CompositeExplicitAutograd")
lib.impl("embedding_byte.dtype", embedding_byte, "CompositeExplicitAutograd")

_MIXED = "Tensor input, Tensor weight, Tensor weight_scales, Tensor? weight_zero_points"
for _name, _more, _function in (
    ("mixed_mm", "", mixed_mm),
    ("mixed_linear", f", {_DTYPE}", mixed_linear),
):
    lib.define(f"{_name}({_MIXED}{_more}) -> Tensor")
    lib.define(f"{_name}.out({_MIXED}{_more}, *, Tensor(a!) out) -> Tensor(a!)")
    lib.impl(_name, _function, "CompositeExplicitAutograd")

# What QuantFusionPass puts before an embedding of few bits; const propagation makes it data.
quant_fusion_lib = torch.library.Library("quant_fusion", "DEF")
quant_fusion_lib.define("_pack_embedding_weight(Tensor weight, SymInt bitwidth) -> Tensor")
quant_fusion_lib.impl("_pack_embedding_weight", pack_embedding_weight, "CompositeExplicitAutograd")
