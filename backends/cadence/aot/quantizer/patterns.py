# SPDX-License-Identifier: BSD-3-Clause
"""What a quantizer may take: calls of captured graphs by name, and the operator that they become by the table."""

from __future__ import annotations

from typing import ClassVar

import torch
from torch._ops import OpOverload


class QuantizationPattern:
    """`functions`: names of calls; `folds`: with a relu or clamp behind them; `replacement`: of torch.ops.cadence."""

    functions: ClassVar[tuple[str, ...]] = ()
    folds: ClassVar[bool] = False
    replacement: ClassVar[str] = ""

    def replacement_op(self) -> OpOverload:
        packet, _, overload = self.replacement.partition(".")
        return getattr(getattr(torch.ops.cadence, packet), overload or "default")


def _pattern(
    name: str, replacement: str, *functions: str, folds: bool = False
) -> type[QuantizationPattern]:
    facts = {"functions": functions, "folds": folds, "replacement": replacement}
    return type(name, (QuantizationPattern,), {**facts, "__module__": __name__})


_LINEAR = "quantized_linear.per_tensor"
_CONV1D, _CONV2D = "quantized_conv1d_ncl.per_tensor", "quantized_conv2d_nchw.per_tensor"
_ADD, _RELU = "quantized_add.per_tensor", "quantized_relu.per_tensor"

AddmmPattern = _pattern("AddmmPattern", _LINEAR, "addmm")
LinearPattern = _pattern("LinearPattern", _LINEAR, "linear")
BmmPattern = _pattern("BmmPattern", "quantized_matmul", "bmm")
MatmulPattern = _pattern("MatmulPattern", "quantized_matmul", "matmul")
Conv1dPattern = _pattern("Conv1dPattern", _CONV1D, "conv1d")
Conv2dPattern = _pattern("Conv2dPattern", _CONV2D, "conv2d")
MaxPool2dPattern = _pattern("MaxPool2dPattern", "quantized_max_pool2d_nchw", "max_pool2d")
ReluPattern0 = _pattern("ReluPattern0", _RELU, "relu")
ReluPattern1 = _pattern("ReluPattern1", _RELU, "relu_")
AddPattern = _pattern("AddPattern", _ADD, "add", "add_")
CatPattern = _pattern("CatPattern", "", "cat")
LayerNormPattern = _pattern("LayerNormPattern", "quantized_layer_norm.per_tensor", "layer_norm")
SoftmaxPattern = _pattern("SoftmaxPattern", "quantized_softmax.per_tensor", "softmax", "_softmax")
RmsNormPattern = _pattern("RmsNormPattern", "")
Conv1dReluPattern = _pattern("Conv1dReluPattern", _CONV1D, "conv1d", folds=True)
Conv2dReluPattern = _pattern("Conv2dReluPattern", _CONV2D, "conv2d", folds=True)
AddReluPattern = _pattern("AddReluPattern", _ADD, "add", folds=True)
MixedW8A32LinearPattern = _pattern("MixedW8A32LinearPattern", "quantized_w8a32_linear", "linear")
