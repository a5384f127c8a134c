# SPDX-License-Identifier: BSD-3-Clause
"""Running products, maxima and the like, in log2(n) steps: after step i each element covers 2^i before it."""

from __future__ import annotations

from collections.abc import Callable

import torch

from executorch.exir.decompositions.sizes import most

aten = torch.ops.aten
Tensor = torch.Tensor


def _shifted(x: Tensor, dim: int, by: int, identity: float) -> Tensor:
    """x moved towards the end of `dim`; the identity fills in."""
    pad = [0, 0] * (x.dim() - 1 - dim % x.dim()) + [by, 0]
    return aten.slice(aten.constant_pad_nd(x, pad, identity), dim, 0, x.shape[dim])


def _scan(
    x: Tensor, dim: int, combine: Callable[[Tensor, Tensor], Tensor], identity: float
) -> Tensor:
    if x.dim() == 0:
        return x.clone()
    step, size = 1, most(x.shape[dim])
    while step < size:
        x = combine(_shifted(x, dim, step, identity), x)
        step *= 2
    return x


def _cumprod(self: Tensor, dim: int, *, dtype: torch.dtype | None = None) -> Tensor:
    is_number = self.dtype.is_floating_point or self.dtype.is_complex
    wanted = dtype or (self.dtype if is_number else torch.int64)
    return _scan(self.to(wanted), dim, torch.mul, 1)


def _logcumsumexp(self: Tensor, dim: int) -> Tensor:
    return _scan(self, dim, torch.logaddexp, float("-inf"))


def _extreme(
    self: Tensor, dim: int, reaches: Callable[[Tensor, Tensor], Tensor], identity: float
) -> tuple[Tensor, Tensor]:
    """Values and their last positions. NaN is beyond all."""
    if self.dim() == 0:
        return self.clone(), torch.zeros((), dtype=torch.int64)
    values = self
    shape = [-1 if each == dim % self.dim() else 1 for each in range(self.dim())]
    indices = torch.arange(self.shape[dim]).view(shape).expand(self.shape)
    step, size = 1, most(self.shape[dim])
    while step < size:
        before = _shifted(values, dim, step, identity)
        keeps = reaches(values, before)
        if self.dtype.is_floating_point:
            keeps = keeps | torch.isnan(values)
        indices = torch.where(keeps, indices, _shifted(indices, dim, step, 0))
        values = torch.where(keeps, values, before)
        step *= 2
    return values, indices


def _cummax(self: Tensor, dim: int) -> tuple[Tensor, Tensor]:
    return _extreme(self, dim, torch.ge, _lowest(self.dtype))


def _cummin(self: Tensor, dim: int) -> tuple[Tensor, Tensor]:
    return _extreme(self, dim, torch.le, _highest(self.dtype))


def _lowest(dtype: torch.dtype) -> float:
    if dtype == torch.bool:
        return 0
    return float("-inf") if dtype.is_floating_point else torch.iinfo(dtype).min


def _highest(dtype: torch.dtype) -> float:
    if dtype == torch.bool:
        return 1
    return float("inf") if dtype.is_floating_point else torch.iinfo(dtype).max


SCANS = {
    aten.cumprod.default: _cumprod,
    aten.logcumsumexp.default: _logcumsumexp,
    aten.cummax.default: _cummax,
    aten.cummin.default: _cummin,
}
