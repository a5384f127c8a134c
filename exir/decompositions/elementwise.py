# SPDX-License-Identifier: BSD-3-Clause
"""Functions of each element."""

from __future__ import annotations

from typing import Any

import torch

from executorch.exir.decompositions.sizes import CannotDecompose

aten = torch.ops.aten
Tensor = torch.Tensor


def _exp2(self: Tensor) -> Tensor:
    return aten.pow.Scalar(2.0, self)


def _round_decimals(self: Tensor, *, decimals: int) -> Tensor:
    if not self.dtype.is_floating_point:
        return self.clone()
    scale = 10.0 ** abs(decimals)
    if decimals > 0:
        return (self * scale).round() / scale
    return (self / scale).round() * scale if decimals < 0 else self.round()


def _signbit(self: Tensor) -> Tensor:
    if not self.dtype.is_floating_point:
        return self < 0
    return (self < 0) | ((self == 0) & (self.reciprocal() < 0))


def _copysign(self: Tensor, other: Tensor) -> Tensor:
    size = self.abs() if self.dtype.is_floating_point else self.to(torch.float32).abs()
    return torch.where(_signbit(other), -size, size)


def _fmax(self: Tensor, other: Tensor) -> Tensor:
    return _number_of(self, other, torch.maximum(self, other))


def _fmin(self: Tensor, other: Tensor) -> Tensor:
    return _number_of(self, other, torch.minimum(self, other))


def _number_of(self: Tensor, other: Tensor, both: Tensor) -> Tensor:
    """`both`, or the one that is a number where the other is not."""
    if not both.dtype.is_floating_point:
        return both
    left, right = self.to(both.dtype), other.to(both.dtype)
    return torch.where(torch.isnan(left), right, torch.where(torch.isnan(right), left, both))


def _hypot(self: Tensor, other: Tensor) -> Tensor:
    """Scaled by the larger one, so that squares stay in range."""
    left, right = self.abs(), other.abs()
    larger, smaller = torch.maximum(left, right), torch.minimum(left, right)
    ratio = smaller / larger
    length = larger * (ratio * ratio + 1).sqrt()
    length = torch.where(larger == 0, larger, length)
    return torch.where(torch.isinf(left) | torch.isinf(right), float("inf"), length)


def _ldexp(self: Tensor, other: Tensor) -> Tensor:
    return self * aten.pow.Scalar(2.0, other)


def _rrelu(
    self: Tensor,
    noise: Tensor,
    lower: float = 0.125,
    upper: float = 1 / 3,
    training: bool = False,
    generator: Any = None,
) -> tuple[Tensor, Tensor]:
    if training:
        raise CannotDecompose("rrelu in training mode; call .eval() before export")
    return aten.leaky_relu(self, (lower + upper) / 2), noise


ELEMENTWISE = {
    aten.exp2.default: _exp2,
    aten.round.decimals: _round_decimals,
    aten.signbit.default: _signbit,
    aten.copysign.Tensor: _copysign,
    aten.fmax.default: _fmax,
    aten.fmin.default: _fmin,
    aten.hypot.default: _hypot,
    aten.ldexp.Tensor: _ldexp,
    aten.rrelu_with_noise_functional.default: _rrelu,
}
