# SPDX-License-Identifier: BSD-3-Clause
"""Distributions, made of uniform and normal numbers. The runtime draws its own: values differ from eager's."""

from __future__ import annotations

from typing import Any

import torch

aten = torch.ops.aten
Tensor = torch.Tensor


def _rand_like(self: Tensor, *, dtype: Any = None, **place: Any) -> Tensor:
    return aten.rand(self.shape, dtype=dtype or self.dtype)


def _randn_like(self: Tensor, *, dtype: Any = None, **place: Any) -> Tensor:
    return aten.randn(self.shape, dtype=dtype or self.dtype)


def _randint(high: Any, size: list[Any], *, dtype: Any = torch.int64, **place: Any) -> Tensor:
    return _randint_low(0, high, size, dtype=dtype)


def _randint_low(
    low: Any, high: Any, size: list[Any], *, dtype: Any = torch.int64, **place: Any
) -> Tensor:
    """In double precision, which holds every whole number up to 2^53."""
    numbers = (aten.rand(size, dtype=torch.float64) * (high - low)).floor() + low
    return numbers.to(dtype or torch.int64)


def _randint_like(self: Tensor, high: Any, *, dtype: Any = None, **place: Any) -> Tensor:
    return _randint_low(0, high, list(self.shape), dtype=dtype or self.dtype)


def _randint_like_low(
    self: Tensor, low: Any, high: Any, *, dtype: Any = None, **place: Any
) -> Tensor:
    return _randint_low(low, high, list(self.shape), dtype=dtype or self.dtype)


def _randperm(n: Any, *, dtype: Any = torch.int64, **place: Any) -> Tensor:
    """The order of random numbers."""
    order = aten.topk(aten.rand([n], dtype=torch.float64), n)[1]
    return order.to(dtype or torch.int64)


def _exponential(self: Tensor, lambd: float = 1.0, generator: Any = None) -> Tensor:
    """-log(1 - u) / lambda; u is less than 1."""
    return aten.rand(self.shape, dtype=self.dtype).neg().log1p() / -lambd


def _normal_tensor_float(mean: Tensor, std: float = 1.0, generator: Any = None) -> Tensor:
    return mean + aten.randn(mean.shape, dtype=mean.dtype) * std


def _normal_float_tensor(mean: float, std: Tensor, generator: Any = None) -> Tensor:
    return mean + aten.randn(std.shape, dtype=std.dtype) * std


def _normal_tensor_tensor(mean: Tensor, std: Tensor, generator: Any = None) -> Tensor:
    spread = torch.broadcast_tensors(mean, std)[1]
    return mean + aten.randn(spread.shape, dtype=mean.dtype) * std


def _multinomial(
    self: Tensor, num_samples: Any, replacement: bool = False, generator: Any = None
) -> Tensor:
    """Without replacement the largest weight / exponential wins. With it, uniform numbers are looked up in the running
    sums; the last sum is not counted, so that no place of weight 0 behind it is drawn."""
    one = isinstance(num_samples, int) and num_samples == 1
    if one or not replacement:
        keys = self / _exponential(self)
        # 0 / 0 would be NaN, which topk takes for the largest.
        keys = torch.where(self > 0, keys, -1.0)
        return aten.topk(keys, num_samples, -1)[1]
    sums = self.to(torch.float64).cumsum(-1)
    total = aten.slice(sums, -1, -1)
    draws = aten.rand([*self.shape[:-1], num_samples], dtype=torch.float64) * total
    is_before = sums.unsqueeze(-2) <= draws.unsqueeze(-1)
    is_before = is_before & (sums < total).unsqueeze(-2)
    return is_before.sum(-1)


RANDOM_NUMBERS = {
    aten.rand_like.default: _rand_like,
    aten.randn_like.default: _randn_like,
    aten.randint.default: _randint,
    aten.randint.low: _randint_low,
    aten.randint_like.default: _randint_like,
    aten.randint_like.low_dtype: _randint_like_low,
    aten.randperm.default: _randperm,
    aten.exponential.default: _exponential,
    aten.normal.Tensor_float: _normal_tensor_float,
    aten.normal.float_Tensor: _normal_float_tensor,
    aten.normal.Tensor_Tensor: _normal_tensor_tensor,
    aten.multinomial.default: _multinomial,
}
