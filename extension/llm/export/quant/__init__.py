# SPDX-License-Identifier: BSD-3-Clause
"""Weights quantized by a recipe, tensor by tensor: rules (recipe), numbers (quantize), forms that export (convert)."""

from executorch.extension.llm.export.quant.convert import (
    Convert,
    fuse_along_output,
    identity,
    to_default,
    to_exportable,
)
from executorch.extension.llm.export.quant.quantize import (
    dequantize_weight,
    quantize_model,
    quantize_stream,
    quantize_weight,
)
from executorch.extension.llm.export.quant.recipe import QuantConfig, QuantRecipe, QuantRule

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
