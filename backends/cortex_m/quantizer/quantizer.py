# SPDX-License-Identifier: BSD-3-Clause
"""`CortexMQuantizer`: int8 for all that the table has a row of; convolutions with a scale per channel."""

from __future__ import annotations

from torch.fx import GraphModule, Node
from torchao.quantization.pt2e.quantizer import QuantizationConfig
from torchao.quantization.pt2e.quantizer.quantizer import Q_ANNOTATION_KEY

from executorch.backends.cortex_m.passes import table
from executorch.backends.cortex_m.passes.before_annotation import REWRITES
from executorch.backends.cortex_m.passes.table import TABLE
from executorch.backends.cortex_m.quantizer.node_finders import GlobalNodeFinder
from executorch.backends.cortex_m.quantizer.quantization_configs import (
    INT8_PER_CHANNEL_CONFIG,
    INT8_PER_TENSOR_CONFIG,
)
from executorch.backends.cortex_m.quantizer_reporter import (
    QuantizerInfo,
    QuantizerReporter,
    QuantizerReporterUser,
)
from executorch.exir.backend.lowering.annotation import Kind
from executorch.exir.backend.lowering.quantizer.captured import CapturedTable, function_name
from executorch.exir.backend.lowering.quantizer.table_quantizer import TableQuantizer

UNSUPPORTED = "Tried annotating unsupported configuration of operators"


class CortexMQuantizer(TableQuantizer, QuantizerReporterUser):
    """Says what it has annotated in the log of quantizer_reporter."""

    table = TABLE
    everywhere = True

    def __init__(self) -> None:
        super().__init__()
        self.reporter = None
        self.set_global(INT8_PER_TENSOR_CONFIG)
        self.set_io(INT8_PER_TENSOR_CONFIG)

    @classmethod
    def get_supported_quantization_configs(cls) -> list[QuantizationConfig]:
        return [INT8_PER_TENSOR_CONFIG, INT8_PER_CHANNEL_CONFIG]

    def transform_for_annotation(self, model: GraphModule) -> GraphModule:
        for rewrite in REWRITES:
            rewrite(model)
        return super().transform_for_annotation(model)

    def annotate(self, model: GraphModule) -> GraphModule:
        super().annotate(model)
        reporter = QuantizerReporter([self])
        for node in model.graph.nodes:
            if Q_ANNOTATION_KEY in node.meta:
                self.report_accept([node])
            elif CapturedTable(self.table).kind_of(node) is not Kind.NONE:
                self.report_reject([node], UNSUPPORTED)
        reporter.log_quantizer_report(model)
        return model

    def get_quantizer_info(self) -> QuantizerInfo:
        rows = f"{table.__name__}.TABLE"
        finder = repr(GlobalNodeFinder())
        return QuantizerInfo(type(self).__name__, finder, "INT8_PER_TENSOR_CONFIG", rows)

    def _config_of(self, node: Node) -> QuantizationConfig | None:
        config = super()._config_of(node)
        is_conv = function_name(node).startswith("conv")
        return INT8_PER_CHANNEL_CONFIG if is_conv and config == INT8_PER_TENSOR_CONFIG else config
