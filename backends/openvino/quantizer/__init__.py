# SPDX-License-Identifier: BSD-3-Clause
"""Quantization by NNCF, Intel's library. Importing this does not need it; what needs it says so."""

from __future__ import annotations

from typing import TYPE_CHECKING

from executorch._lazy import lazy_names

if TYPE_CHECKING:
    from executorch.backends.openvino.quantizer.llm_compression import (
        apply_nncf_data_aware_compression,
    )
    from executorch.backends.openvino.quantizer.quantizer import (
        OpenVINOQuantizer,
        QuantizationMode,
        quantize_model,
    )

__all__ = [
    "OpenVINOQuantizer",
    "QuantizationMode",
    "apply_nncf_data_aware_compression",
    "quantize_model",
]

_HOMES = {
    "OpenVINOQuantizer": "quantizer",
    "QuantizationMode": "quantizer",
    "apply_nncf_data_aware_compression": "llm_compression",
    "quantize_model": "quantizer",
}
__getattr__, __dir__ = lazy_names(__name__, _HOMES)
