# SPDX-License-Identifier: BSD-3-Clause
# compat
from executorch.extension.llm.quantization.exportable import (
    Convert,
    fuse_along_output,
    identity,
    to_default,
    to_exportable,
)
from executorch.extension.llm.quantization.recipes import (
    QuantConfig,
    QuantRecipe,
    QuantRule,
    dequantize_weight,
    quantize_model,
    quantize_stream,
    quantize_weight,
)

__all__ = [
    "Convert",
    "QuantConfig",
    "QuantRecipe",
    "QuantRule",
    "dequantize_weight",
    "fuse_along_output",
    "identity",
    "quantize_model",
    "quantize_stream",
    "quantize_weight",
    "to_default",
    "to_exportable",
]
