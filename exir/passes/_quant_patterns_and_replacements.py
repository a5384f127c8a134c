# SPDX-License-Identifier: BSD-3-Clause
"""Operators that quantized kernels run in one go, each with the decomposed form it stands for."""

from __future__ import annotations

import torch
import torch.ao.quantization.fx._decomposed

from executorch.exir.dialects._ops import bind_pattern_to_op

_ADD = (
    "Tensor a, float a_scale, int a_zero_point, int a_quant_min, int a_quant_max, "
    "Tensor b, float b_scale, int b_zero_point, int b_quant_min, int b_quant_max, "
    "float out_scale, int out_zero_point, int out_quant_min, int out_quant_max"
)
lib = torch.library.Library("quantized_decomposed", "FRAGMENT")
lib.define(f"add({_ADD}) -> Tensor qc")
lib.define(f"add.out({_ADD}, *, Tensor(a!) out) -> Tensor(a!)")


@bind_pattern_to_op(lib, "add")
def add(
    a: torch.Tensor, a_scale: float, a_zero_point: int, a_quant_min: int, a_quant_max: int,
    b: torch.Tensor, b_scale: float, b_zero_point: int, b_quant_min: int, b_quant_max: int,
    out_scale: float, out_zero_point: int, out_quant_min: int, out_quant_max: int,
) -> torch.Tensor:  # fmt: skip
    quantized = torch.ops.quantized_decomposed
    total = torch.ops.aten.add.Tensor(
        quantized.dequantize_per_tensor(
            a, a_scale, a_zero_point, a_quant_min, a_quant_max, a.dtype
        ),
        quantized.dequantize_per_tensor(
            b, b_scale, b_zero_point, b_quant_min, b_quant_max, b.dtype
        ),
    )
    return quantized.quantize_per_tensor(
        total, out_scale, out_zero_point, out_quant_min, out_quant_max, a.dtype
    )
