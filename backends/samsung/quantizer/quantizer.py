# SPDX-License-Identifier: BSD-3-Clause
"""`EnnQuantizer`: which values are quantized. A8W8 is the only precision."""

from __future__ import annotations

from collections.abc import Callable, Sequence

from torch.fx import GraphModule
from torchao.quantization.pt2e.quantizer import Quantizer

from executorch.backends.samsung.quantizer.annotator import annotate
from executorch.backends.samsung.quantizer.qconfig import (
    Precision,
    get_quant_config,
    precision_of,
)

__all__ = ["EnnQuantizer", "Precision"]


class EnnQuantizer(Quantizer):
    """With a scale for each output channel of weights, and without training, unless setup_quant_params says
    otherwise."""

    def __init__(self) -> None:
        super().__init__()
        self._custom: list[Callable[[GraphModule], None]] = []
        self.setup_quant_params(Precision.A8W8)

    def setup_precision(self, quant_dtype: Precision | str) -> None:
        """ValueError for another."""
        self._precision = precision_of(quant_dtype)

    def setup_quant_params(
        self, quant_dtype: Precision | str, is_per_channel: bool = True, is_qat: bool = False
    ) -> None:
        """`quant_dtype`: a precision, or its name."""
        self.setup_precision(quant_dtype)
        self._is_per_channel, self._is_qat = is_per_channel, is_qat

    set_quant_params = setup_quant_params  # as documents have it

    def add_custom_quant_annotations(
        self, custom_quant_annotations: Sequence[Callable[[GraphModule], None]]
    ) -> None:
        """Functions that annotate behind the rules."""
        self._custom += custom_quant_annotations

    def annotate(self, model: GraphModule) -> GraphModule:
        annotate(model, get_quant_config(self._precision, self._is_per_channel, self._is_qat))
        for custom in self._custom:
            custom(model)
        return model

    def validate(self, model: GraphModule) -> None:
        """What annotate writes is valid."""
