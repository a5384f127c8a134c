# SPDX-License-Identifier: BSD-3-Clause
"""Re-exports extension.llm.quantization, which quantizes any module; the model itself is not here."""

from executorch.extension.llm.quantization.weights import quantize_model_

__all__ = ["quantize_model_"]
