# SPDX-License-Identifier: BSD-3-Clause
"""`CortexMQuantizer`: int8 for all that the table has a row of; convolutions with a scale per channel."""

from __future__ import annotations

from torch.fx import GraphModule, Node
from torchao.quantization.pt2e.quantizer import QuantizationConfig

from executorch.backends.cortex_m.passes.before_annotation import REWRITES
from executorch.backends.cortex_m.passes.table import TABLE
from executorch.backends.cortex_m.quantizer.quantization_configs import (
    INT8_PER_CHANNEL_CONFIG,
    INT8_PER_TENSOR_CONFIG,
)
from executorch.exir.backend.lowering.quantizer.captured import function_name
from executorch.exir.backend.lowering.quantizer.table_quantizer import TableQuantizer


class CortexMQuantizer(TableQuantizer):
    table = TABLE
    everywhere = True

    def __init__(self) -> None:
        super().__init__()
        self.set_global(INT8_PER_TENSOR_CONFIG)
        self.set_io(INT8_PER_TENSOR_CONFIG)

    @classmethod
    def get_supported_quantization_configs(cls) -> list[QuantizationConfig]:
        return [INT8_PER_TENSOR_CONFIG, INT8_PER_CHANNEL_CONFIG]

    def transform_for_annotation(self, model: GraphModule) -> GraphModule:
        for rewrite in REWRITES:
            rewrite(model)
        return super().transform_for_annotation(model)

    def _config_of(self, node: Node) -> QuantizationConfig | None:
        config = super()._config_of(node)
        is_conv = function_name(node).startswith("conv")
        return INT8_PER_CHANNEL_CONFIG if is_conv and config == INT8_PER_TENSOR_CONFIG else config
