# SPDX-License-Identifier: BSD-3-Clause
"""`SkeletonCompilerQuantizer`: activations of 16 bits and weights of 4, as the annotations of the table's rows say."""

from __future__ import annotations

from torchao.quantization.pt2e.quantizer import QuantizationConfig

from executorch.backends.skeleton_compiler.aot.ops import TABLE
from executorch.exir.backend.lowering.quantizer.configs import (
    around_zero,
    limits_of,
    quantization_config,
)
from executorch.exir.backend.lowering.quantizer.table_quantizer import TableQuantizer


def config_16_by_4(is_qat: bool = False) -> QuantizationConfig:
    return quantization_config(
        limits_of(16),
        around_zero(4),
        is_per_channel=True,
        is_symmetric=True,
        has_int32_bias=True,
        is_qat=is_qat,
    )


class SkeletonCompilerQuantizer(TableQuantizer):
    table = TABLE

    def __init__(self) -> None:
        super().__init__()
        self.set_global(config_16_by_4())

    @classmethod
    def get_supported_quantization_configs(cls) -> list[QuantizationConfig]:
        return [config_16_by_4(), config_16_by_4(is_qat=True)]
