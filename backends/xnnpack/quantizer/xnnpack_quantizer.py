# SPDX-License-Identifier: BSD-3-Clause
"""`XNNPACKQuantizer`: what the annotations of the table of ops make 8-bit."""

from __future__ import annotations

from torchao.quantization.pt2e.quantizer import QuantizationConfig

from executorch.backends.xnnpack.aot.ops import TABLE
from executorch.backends.xnnpack.quantizer.quantization_config import (
    get_symmetric_quantization_config,
)
from executorch.exir.backend.lowering.quantizer.table_quantizer import TableQuantizer

__all__ = ["XNNPACKQuantizer", "get_symmetric_quantization_config"]


class XNNPACKQuantizer(TableQuantizer):
    table = TABLE

    @classmethod
    def get_supported_quantization_configs(cls) -> list[QuantizationConfig]:
        """Weights by tensor and by channel, activations of fixed ranges and of those of each run."""
        return [
            get_symmetric_quantization_config(is_per_channel=by_channel, is_dynamic=is_dynamic)
            for by_channel in (False, True)
            for is_dynamic in (False, True)
        ]
