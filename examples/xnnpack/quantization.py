# SPDX-License-Identifier: BSD-3-Clause
"""The quantizing step of the XNNPACK examples: a float model becomes one of 8-bit operators."""

from __future__ import annotations

import dataclasses
from collections.abc import Sequence
from typing import Any

import torch
from torchao.quantization.pt2e.quantize_pt2e import convert_pt2e, prepare_pt2e

from executorch.backends.xnnpack.quantizer.xnnpack_quantizer import (
    XNNPACKQuantizer,
    get_symmetric_quantization_config,
)
from executorch.examples.models.example import Inputs, Method
from executorch.examples.xnnpack import QuantType


def quantize(
    model: torch.nn.Module,
    example_inputs: Inputs,
    quant_type: QuantType = QuantType.STATIC_PER_CHANNEL,
) -> torch.nn.Module:
    """`model` as exported (`export(...).module()`), with 8-bit weights, and activations that are quantized with what
    the inputs show (static) or what each run finds (dynamic). `MODEL_NAME_TO_OPTIONS` says what suits a model."""
    return _quantize(model, [example_inputs], quant_type)


def quantized_method(method: Method) -> Method:
    """The same method on a quantized module, calibrated with all of its calls."""
    program = method.export()
    calls = method.calls or (method.inputs,)
    return dataclasses.replace(method, module=_quantize(program.module(), calls))


def _quantize(
    model: Any, calls: Sequence[Inputs], quant_type: QuantType = QuantType.STATIC_PER_CHANNEL
) -> torch.nn.Module:
    if quant_type is QuantType.NONE:
        return model
    config = get_symmetric_quantization_config(
        is_per_channel=quant_type is not QuantType.STATIC_PER_TENSOR,
        is_dynamic=quant_type is QuantType.DYNAMIC_PER_CHANNEL,
    )
    prepared = prepare_pt2e(model, XNNPACKQuantizer().set_global(config))
    with torch.no_grad():
        for inputs in calls:
            prepared(*inputs)
    return convert_pt2e(prepared)
