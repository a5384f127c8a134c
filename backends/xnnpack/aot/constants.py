# SPDX-License-Identifier: BSD-3-Clause
"""What is known ahead of time: the data of a program, and what quantizing and dequantizing makes of them."""

from __future__ import annotations

from torch.export import ExportedProgram

from executorch.exir.backend.lowering import constants

_COMPUTED = frozenset(
    {
        "quantized_decomposed.quantize_per_channel.default",
        "quantized_decomposed.quantize_per_tensor.default",
        "quantized_decomposed.dequantize_per_channel.default",
        "quantized_decomposed.dequantize_per_channel_group.default",
        "quantized_decomposed.dequantize_per_tensor.default",
        "torchao.quantize_affine.default",
        "torchao.dequantize_affine.default",
    }
)


class Constants(constants.Constants):
    def __init__(self, program: ExportedProgram) -> None:
        super().__init__(program, _COMPUTED)
