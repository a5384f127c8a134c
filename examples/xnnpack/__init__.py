# SPDX-License-Identifier: BSD-3-Clause
"""Programs for the XNNPACK backend: how each example model is quantized best."""

from dataclasses import dataclass
from enum import Enum


class QuantType(Enum):
    NONE = 1
    STATIC_PER_TENSOR = 2
    STATIC_PER_CHANNEL = 3
    DYNAMIC_PER_CHANNEL = 4


@dataclass(frozen=True)
class XNNPACKOptions:
    """`quantization`: what loses least; `delegation`: whether XNNPACK takes the model."""

    quantization: QuantType
    delegation: bool


_CONVOLUTIONS = XNNPACKOptions(QuantType.STATIC_PER_CHANNEL, True)
_PRODUCTS = XNNPACKOptions(QuantType.DYNAMIC_PER_CHANNEL, True)
_SUMS = XNNPACKOptions(QuantType.STATIC_PER_TENSOR, True)

# of examples.models.EXAMPLES
MODEL_NAME_TO_OPTIONS = {
    "linear": _CONVOLUTIONS,
    "add": _SUMS,
    "add_mul": _SUMS,
    "mv2": _CONVOLUTIONS,
    "resnet18": _CONVOLUTIONS,
    "vit": _PRODUCTS,
    "bert": _PRODUCTS,
    "llama": _PRODUCTS,
}
