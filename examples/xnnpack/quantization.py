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


def quantize(model: torch.nn.Module, example_inputs: Inputs) -> torch.nn.Module:
    """`model` as exported (`export(...).module()`), with static 8-bit activations and weights; the inputs are the
    calibration."""
    return _quantize(model, [example_inputs])


def quantized_method(method: Method) -> Method:
    """The same method on a quantized module, calibrated with all of its calls."""
    program = method.export()
    calls = method.calls or (method.inputs,)
    return dataclasses.replace(method, module=_quantize(program.module(), calls))


def _quantize(model: Any, calls: Sequence[Inputs]) -> torch.nn.Module:
    config = get_symmetric_quantization_config(is_per_channel=True)
    prepared = prepare_pt2e(model, XNNPACKQuantizer().set_global(config))
    with torch.no_grad():
        for inputs in calls:
            prepared(*inputs)
    return convert_pt2e(prepared)
