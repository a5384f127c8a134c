# SPDX-License-Identifier: BSD-3-Clause
# compat
from executorch.extension.llm.quantization.recipes import (
    dequantize_weight,
    quantize_model,
    quantize_stream,
    quantize_weight,
)

__all__ = [
    "dequantize_weight",
    "quantize_model",
    "quantize_stream",
    "quantize_weight",
]
