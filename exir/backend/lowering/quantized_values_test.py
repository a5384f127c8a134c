# SPDX-License-Identifier: BSD-3-Clause
"""Scales and zero points that mean nothing are refused by name, and those of a missing calibration are said."""

from __future__ import annotations

import warnings
from collections.abc import Callable
from typing import Any

import pytest
import torch
from torch import Tensor, nn
from torch.export import ExportedProgram

from executorch.exir import to_edge
from executorch.exir.backend.lowering.constants import Constants
from executorch.exir.backend.lowering.quantized_values import (
    InvalidQuantization,
    check_quantized_values,
    warn_of_missing_ranges,
)

QD = torch.ops.quantized_decomposed
NAN, INF, DENORMAL = float("nan"), float("inf"), 1e-40


class Model(nn.Module):
    """An input by one scale, a weight by two, each with a zero point."""

    def __init__(self, scale: float, point: int, scales: list[float], points: list[int]) -> None:
        super().__init__()
        self.scale, self.point = scale, point
        self.register_buffer("weight", torch.ones(2, 3, dtype=torch.int8))
        self.register_buffer("scales", torch.tensor(scales, dtype=torch.float64))
        self.register_buffer("points", torch.tensor(points))

    def forward(self, x: Tensor) -> Tensor:
        stored = QD.quantize_per_tensor(x, self.scale, self.point, -128, 127, torch.int8)
        x = QD.dequantize_per_tensor(stored, self.scale, self.point, -128, 127, torch.int8)
        args = (self.scales, self.points, 0, -127, 127, torch.int8)
        return nn.functional.linear(x, QD.dequantize_per_channel(self.weight, *args))


def program(module: nn.Module) -> ExportedProgram:
    return to_edge(torch.export.export(module, (torch.randn(4, 3),))).exported_program()


def check(*arguments: Any) -> None:
    made = program(Model(*arguments))
    check_quantized_values(made, Constants(made))


@pytest.mark.parametrize("scale", [NAN, INF, -INF, DENORMAL, -DENORMAL])
def test_scales_of_a_tensor(scale: float) -> None:
    text = rf"Scales must be finite and normal: node \w+ \(quantized\S+\) has a scale of {scale};"
    with pytest.raises(ValueError, match=text) as caught:
        check(scale, 0, [1.0, 2.0], [0, 0])
    assert isinstance(caught.value, InvalidQuantization)


@pytest.mark.parametrize("scale", [NAN, INF, DENORMAL])
def test_scales_of_channels(scale: float) -> None:
    with pytest.raises(ValueError, match=r"node \w*dequantize_per_channel\w* .* at index 1;"):
        check(0.1, 0, [1.0, scale], [0, 0])


def test_a_scale_for_each_channel() -> None:
    """An observer of channels that was never run has one scale."""
    with pytest.raises(
        ValueError, match="Expected a scale for each channel: .* 1 for 2 channels; "
    ):
        check(0.1, 0, [1.0], [0])


def test_zero_points() -> None:
    text = r"Found invalid zeropoint: node .* has a zero point of 128; .* torch.int8, -128 to 127"
    with pytest.raises(ValueError, match=text):
        check(0.1, 128, [1.0, 2.0], [0, 0])
    with pytest.raises(ValueError, match="a zero point of -129 at index 0"):
        check(0.1, 0, [1.0, 2.0], [-129, 200])


def test_numbers_that_mean_something_pass() -> None:
    """A scale of 0 too: a channel that is 0 throughout. 1.18e-38 is the least normal number."""
    check(1e-30, -128, [1.2e-38, 0.0], [127, -128])
    check(3e38, 127, [1.0, 2.0], [0, 0])


def warning(make: Callable[[], nn.Module]) -> str:
    made = program(make())
    with warnings.catch_warnings(record=True) as caught:
        warnings.simplefilter("always")
        warn_of_missing_ranges(made)
    return " ".join(str(each.message) for each in caught)


def test_ranges_that_nothing_was_seen_for() -> None:
    assert not warning(lambda: Model(0.1, 0, [1.0, 2.0], [0, 0]))
    assert not warning(lambda: Model(1.0, -5, [2**-12, 1.0], [0, 0]))  # weights may be small
    assert "x has scale 1 and zero point 0" in warning(lambda: Model(1.0, 0, [1.0, 2.0], [0, 0]))
    # 255 steps of 2^-12
    small = warning(lambda: Model(2**-12, 3, [1.0, 2.0], [0, 0]))
    assert "x has the least scale of an observer: calibration saw no range beyond 0.0623" in small
    assert "least scale" in warning(
        lambda: Model(torch.finfo(torch.float32).eps, 0, [1.0, 2.0], [0, 0])
    )


class Fixed(nn.Module):
    """From 0 to 1 in 16 bits, as a softmax has it."""

    def forward(self, x: Tensor) -> Tensor:
        stored = QD.quantize_per_tensor(x, 2**-16, -32768, -32768, 32767, torch.int16)
        return QD.dequantize_per_tensor(stored, 2**-16, -32768, -32768, 32767, torch.int16)


def test_least_scales_of_any_observer_are_told_from_parameters_of_an_operator() -> None:
    small = warning(lambda: Model(2**-16, 3, [1.0, 2.0], [0, 0]))
    assert "x has the least scale of an observer: calibration saw no range beyond 0.00389" in small
    assert not warning(lambda: Model(3 * 2**-16, 3, [1.0, 2.0], [0, 0]))
    assert not warning(Fixed)
