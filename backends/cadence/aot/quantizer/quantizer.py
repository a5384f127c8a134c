# SPDX-License-Identifier: BSD-3-Clause
"""`CadenceDefaultQuantizer`: int8 for all that the table has a row of."""

from __future__ import annotations

from dataclasses import replace

import torch
from torch.fx import Node
from torchao.quantization.pt2e.quantizer import QuantizationConfig

from executorch.backends.cadence.aot.table import TABLE
from executorch.exir.backend.lowering.quantizer.captured import function_name
from executorch.exir.backend.lowering.quantizer.configs import INT8, quantization_config
from executorch.exir.backend.lowering.quantizer.table_quantizer import TableQuantizer

# Activations affine; weights symmetric, or affine too.
qconfig_A8W8sym = quantization_config(weight=INT8, has_int32_bias=True, smallest_scale=2**-12)
qconfig_A8W8 = replace(
    qconfig_A8W8sym, weight=replace(qconfig_A8W8sym.weight, qscheme=torch.per_tensor_affine)
)


class CadenceDefaultQuantizer(TableQuantizer):
    table = TABLE
    everywhere = True
    folded = frozenset()

    def __init__(self) -> None:
        super().__init__()
        self.set_global(qconfig_A8W8)

    @classmethod
    def get_supported_quantization_configs(cls) -> list[QuantizationConfig]:
        return [qconfig_A8W8, qconfig_A8W8sym]

    def _config_of(self, node: Node) -> QuantizationConfig | None:
        config = super()._config_of(node)
        is_conv = function_name(node).startswith("conv")
        return qconfig_A8W8sym if is_conv and config == qconfig_A8W8 else config
