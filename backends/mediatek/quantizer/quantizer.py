# SPDX-License-Identifier: BSD-3-Clause
"""`NeuropilotQuantizer`: which values are quantized, in the bits of a precision."""

from __future__ import annotations

from torch.fx import GraphModule
from torchao.quantization.pt2e.quantizer import Quantizer

from executorch.backends.mediatek.quantizer.annotator import annotate
from executorch.backends.mediatek.quantizer.qconfig import Precision, get_quant_config
from executorch.backends.transforms.decompose_sdpa import DecomposeScaledDotProductAttention


class NeuropilotQuantizer(Quantizer):
    """A8W8 with a scale for each output channel of weights, unless setup_precision says otherwise. Models are converted
    with convert_pt2e(model, fold_quantize=False)."""

    def __init__(self) -> None:
        super().__init__()
        self._precision = Precision.A8W8
        self._is_per_channel = True
        self._is_qat = False

    def setup_precision(self, precision: Precision) -> None:
        """RuntimeError for what is no Precision."""
        get_quant_config(precision)
        self._precision = precision

    def transform_for_annotation(self, model: GraphModule) -> GraphModule:
        return DecomposeScaledDotProductAttention()(model).graph_module

    def annotate(self, model: GraphModule) -> GraphModule:
        annotate(model.graph, get_quant_config(self._precision, self._is_per_channel, self._is_qat))
        return model

    def validate(self, model: GraphModule) -> None:
        """What annotate writes is valid."""
