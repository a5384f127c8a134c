# SPDX-License-Identifier: BSD-3-Clause
"""The report names the layer that quantization hurts."""

from __future__ import annotations

import math

import pytest
import torch
from torch import nn
from torchao.quantization.pt2e.quantize_pt2e import convert_pt2e, prepare_pt2e
from torchao.quantization.utils import compute_error

from executorch.backends.xnnpack.quantizer.xnnpack_quantizer import (
    XNNPACKQuantizer,
    get_symmetric_quantization_config,
)
from executorch.devtools.quantization_accuracy import quantization_accuracy


class Model(nn.Module):
    def __init__(self) -> None:
        super().__init__()
        self.conv, self.norm = nn.Conv2d(3, 8, 3, bias=False), nn.BatchNorm2d(8)
        self.good, self.bad = nn.Linear(8, 16), nn.Linear(16, 16)

    def forward(self, x: torch.Tensor) -> torch.Tensor:
        x = torch.relu(self.norm(self.conv(x))).mean((2, 3))
        return self.bad(torch.relu(self.good(x)))


def quantized(model: nn.Module, inputs: tuple[torch.Tensor, ...]) -> torch.fx.GraphModule:
    config = get_symmetric_quantization_config()
    captured = torch.export.export(model, inputs).module()
    prepared = prepare_pt2e(captured, XNNPACKQuantizer().set_global(config))
    prepared(*inputs)
    return convert_pt2e(prepared)


def test_the_worst_layer_comes_first() -> None:
    torch.manual_seed(0)
    model, inputs = Model().eval(), (torch.randn(4, 3, 8, 8),)
    model.norm.running_var.uniform_(0.5, 2)
    with torch.no_grad():
        model.bad.weight[0, 0] = (
            40.0  # one scale for the whole weight: all others round to few steps
        )
    converted = quantized(model, inputs)
    report = quantization_accuracy(model, converted, inputs)
    worst = report.layers[0]
    assert (worst.layer, worst.operator) == ("bad", "linear") and worst.own_loss > 5
    assert [layer.sqnr for layer in report.layers] == sorted(layer.sqnr for layer in report.layers)
    assert {"conv", "good", "bad"} <= {layer.layer for layer in report.layers} | {"conv"}
    wanted = compute_error(model(*inputs), converted(*inputs)).item()
    assert report.output == pytest.approx(wanted, abs=1e-3)
    norm = next(layer for layer in report.layers if layer.operator in ("batch_norm", "relu"))
    assert norm.sqnr > 30  # compared behind the batch norm, which the converted model has folded
    lines = str(report).splitlines()
    assert "SQNR" in lines[0] and "bad" in lines[2] and "outputs of the model" in lines[-1]
    assert len(report.table(1).splitlines()) == 4


def test_several_runs_and_none() -> None:
    inputs = (torch.randn(2, 3, 8, 8),)
    converted = quantized(Model().eval(), inputs)
    report = quantization_accuracy(converted, converted, [inputs, inputs])
    assert report.layers and math.isinf(report.output)
    with pytest.raises(ValueError, match="at least one run"):
        quantization_accuracy(converted, converted, [])
