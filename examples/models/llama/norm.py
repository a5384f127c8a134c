# SPDX-License-Identifier: BSD-3-Clause
"""Re-exports extension.llm.model.norms."""

from executorch.extension.llm.model.norms import (
    RMSNorm,
    RMSNormGated,
    RMSNormWithInputScale,
    ScalelessRMSNorm,
)

__all__ = ["RMSNorm", "RMSNormGated", "RMSNormWithInputScale", "ScalelessRMSNorm"]
