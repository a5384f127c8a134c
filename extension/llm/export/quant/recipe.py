# SPDX-License-Identifier: BSD-3-Clause
# compat
from executorch.extension.llm.quantization.recipes import (
    QuantConfig,
    QuantRecipe,
    QuantRule,
)

__all__ = [
    "QuantConfig",
    "QuantRecipe",
    "QuantRule",
]
