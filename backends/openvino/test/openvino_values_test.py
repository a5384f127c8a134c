# SPDX-License-Identifier: BSD-3-Clause
"""Where OpenVINO's own numbers are others than PyTorch's: such calls stay on the CPU, and the program is right."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import pytest
import torch
from torch import Tensor

from executorch.backends.openvino.test.lowered import (
    check,
    delegates,
    left,
    lower,
    needs_compiler,
    needs_runtime,
    run,
)
from executorch.backends.test.corpus.row import Function

pytestmark = [needs_compiler, needs_runtime]
q = torch.ops.quantized_decomposed
U8 = (0.0322, 127, 0, 255, torch.uint8)


def rounded(x: Tensor) -> Tensor:
    return q.dequantize_per_tensor.default(q.quantize_per_tensor.default(x, *U8), *U8)


def _checked(function: Callable[..., Any], *inputs: Tensor) -> Any:
    model = Function(function)
    edge = lower(model, inputs)
    check(run(edge.to_executorch().buffer, inputs), model(*inputs), rtol=1e-4, atol=1e-5)
    return edge


X = torch.linspace(-3, 3, 64).reshape(2, 4, 8)
KEPT_OUT = {
    "a result in 8 bits": (lambda x: q.quantize_per_tensor.default(x, *U8), X),
    "an argument in 8 bits": (
        lambda x: q.dequantize_per_tensor.default(x, *U8) + 1,
        torch.arange(8, dtype=torch.uint8),
    ),
    "other parameters": (
        lambda x: q.dequantize_per_tensor.default(
            q.quantize_per_tensor.default(x, *U8), 0.05, 3, 0, 255, torch.uint8
        ),
        X,
    ),
    "an operator between": (
        lambda x: (
            torch.atan(q.dequantize_per_tensor.default(q.quantize_per_tensor.default(x, *U8), *U8))
            * rounded(x)
        ),
        X,
    ),
    "square root of zero": (lambda x: torch.sqrt(rounded(x)), torch.linspace(0, 3, 64) ** 3),
    "division by zero": (lambda x: x / rounded(x).reshape(-1, 8)[0], X),
    "padding of quantized values": (
        lambda x: torch.nn.functional.avg_pool2d(rounded(x), 3, 2, 1),
        torch.rand(1, 2, 9, 9) + 1,
    ),
    "padding that counts and ends inside of a window": (
        lambda x: torch.nn.functional.avg_pool2d(x, 3, 2, 1, True),
        torch.rand(1, 2, 9, 12) + 1,
    ),
    "the same of one dimension": (
        lambda x: torch.nn.functional.avg_pool1d(x, 3, 2, 1, True),
        torch.rand(1, 2, 12) + 1,
    ),
    "a row that is interpolated of several": (
        lambda x: torch.nn.functional.interpolate(x, (1, 4), mode="bilinear"),
        torch.randn(1, 2, 5, 6),
    ),
    "a sum and arithmetic": (lambda x: x.sum(1).div(8), X),
    "a sum of two dimensions": (lambda x: x.sum((1, 2), keepdim=True) / 8, X),
}


@pytest.mark.parametrize("name", KEPT_OUT)
def test_values_are_right(name: str) -> None:
    _checked(*KEPT_OUT[name])


def test_what_is_rounded_and_read_is_delegated() -> None:
    edge = _checked(lambda x: torch.relu(rounded(x)) * 2, X)
    assert delegates(edge) and left(edge) == []


class Folded(torch.nn.Module):
    """A weight as convert_pt2e stores it."""

    def __init__(self, by_channel: bool) -> None:
        super().__init__()
        self.by_channel = by_channel
        self.register_buffer("weight", torch.randint(-127, 128, (5, 8), dtype=torch.int8))
        self.register_buffer("scales", torch.rand(5) + 0.01)
        self.register_buffer("zeros", torch.zeros(5, dtype=torch.int64))

    def forward(self, x: Tensor) -> Tensor:
        weight = (
            q.dequantize_per_channel.default(
                self.weight, self.scales, self.zeros, 0, -128, 127, torch.int8
            )
            if self.by_channel
            else q.dequantize_per_tensor.default(self.weight, 0.02, 3, -128, 127, torch.int8)
        )
        return torch.nn.functional.linear(rounded(x), weight)


@pytest.mark.parametrize("by_channel", [False, True])
def test_stored_integers_go_into_the_delegate(by_channel: bool) -> None:
    model = Folded(by_channel)
    edge = lower(model, (X,))
    assert len(delegates(edge)) == 1 and left(edge) == []
    check(run(edge.to_executorch().buffer, (X,)), model(X), rtol=1e-3, atol=1e-2)
