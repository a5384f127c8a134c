# SPDX-License-Identifier: BSD-3-Clause
# compat
"""Quantizing a model in one call."""

from __future__ import annotations

from collections.abc import Callable, Iterable
from typing import Any

import torch
from torch.export import ExportedProgram
from torch.fx import GraphModule
from torchao.quantization.pt2e import move_exported_model_to_eval, move_exported_model_to_train
from torchao.quantization.pt2e.quantize_pt2e import convert_pt2e, prepare_pt2e, prepare_qat_pt2e
from torchao.quantization.pt2e.quantizer import Quantizer

__all__ = ["calibrate_and_quantize"]


def calibrate_and_quantize(
    model: ExportedProgram | GraphModule,
    calibration_inputs: Iterable[tuple[Any, ...]],
    quantizer: Quantizer,
    is_qat: bool = False,
    train_fn: Callable[[GraphModule], None] | None = None,
) -> GraphModule:
    """Prepares, runs each tuple of inputs, converts. `is_qat`: `train_fn` trains the prepared model in the place of
    that; without it calibration alone gives the ranges."""
    module = model.module() if isinstance(model, ExportedProgram) else model
    prepared = (prepare_qat_pt2e if is_qat else prepare_pt2e)(module, quantizer)
    if is_qat and train_fn is not None:
        move_exported_model_to_train(prepared)
        train_fn(prepared)
        move_exported_model_to_eval(prepared)
    else:
        if is_qat:
            move_exported_model_to_eval(prepared)
        with torch.no_grad():
            for inputs in calibration_inputs:
                prepared(*inputs)
    return convert_pt2e(prepared)
