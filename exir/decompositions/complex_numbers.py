# SPDX-License-Identifier: BSD-3-Clause
"""Complex numbers from their parts, their angles, and what kernels compute of real numbers alone."""

from __future__ import annotations

import math
from typing import Any

import torch

from executorch.exir.decompositions.sizes import CannotDecompose

aten = torch.ops.aten
Tensor = torch.Tensor


def _complex(real: Tensor, imag: Tensor) -> Tensor:
    parts = torch.broadcast_tensors(real, imag)
    return aten.view_as_complex_copy(torch.stack(parts, -1))


def _polar(abs: Tensor, angle: Tensor) -> Tensor:
    return _complex(abs * angle.cos(), abs * angle.sin())


def _angle(self: Tensor) -> Tensor:
    if self.dtype.is_complex:
        parts = aten.view_as_real_copy(self)
        return torch.atan2(parts.select(-1, 1), parts.select(-1, 0))
    if not self.dtype.is_floating_point:
        return torch.where(self < 0, math.pi, 0.0)
    return torch.where(torch.isnan(self), self, torch.where(self < 0, math.pi, 0.0).to(self.dtype))


COMPLEX_NUMBERS = {
    aten.complex.default: _complex,
    aten.polar.default: _polar,
    aten.angle.default: _angle,
}


def _power(self: Tensor | complex, exponent: Tensor | complex) -> Tensor:
    """Whole exponents by products, others through the logarithm."""
    if isinstance(exponent, int | float) and exponent == int(exponent) and abs(exponent) <= 8:
        result = torch.ones_like(self)
        for _ in range(abs(int(exponent))):
            result = result * self
        return result if exponent >= 0 else result.reciprocal()
    base = self if isinstance(self, Tensor) else torch.full((), 1.0) * self
    found = torch.exp(torch.log(base) * exponent)
    is_positive = isinstance(exponent, int | float) and exponent > 0
    return torch.where(base == 0, 0.0, found) if is_positive else found


def _is_nan(self: Tensor) -> Tensor:
    parts = aten.view_as_real_copy(self)
    return (parts != parts).to(torch.int32).sum(-1) > 0


def _is_inf(self: Tensor) -> Tensor:
    return (aten.view_as_real_copy(self).abs() == math.inf).to(torch.int32).sum(-1) > 0


def _variance(
    self: Tensor, dim: Any = None, *, correction: Any = None, keepdim: bool = False
) -> Tensor:
    """Of both parts together: the mean of |z - mean|^2."""
    dims = [d % self.dim() for d in (dim or range(self.dim()))]
    count = 1
    for each in dims:
        count = count * self.shape[each]
    divisor = count - (1 if correction is None else correction)
    if not isinstance(divisor, int | float) or divisor <= 0:
        raise CannotDecompose("the variance of complex numbers of a size that varies")
    apart = aten.view_as_real_copy(self - self.mean(dims, True))
    return (apart * apart).sum(-1).sum(dims, keepdim) / divisor


def _variance_and_mean(
    self: Tensor, dim: Any = None, *, correction: Any = None, keepdim: bool = False
) -> tuple[Tensor, Tensor]:
    dims = [d % self.dim() for d in (dim or range(self.dim()))]
    return _variance(self, dim, correction=correction, keepdim=keepdim), self.mean(dims, keepdim)


# Of calls with complex numbers alone; none of these may use an operator of this table.
OF_COMPLEX_CALLS = {
    aten.pow.Tensor_Scalar: _power,
    aten.pow.Tensor_Tensor: _power,
    aten.pow.Scalar: _power,
    aten.isnan.default: _is_nan,
    aten.isinf.default: _is_inf,
    aten.logical_and.default: lambda self, other: (self != 0) & (other != 0),
    aten.logical_or.default: lambda self, other: (self != 0) | (other != 0),
    aten.logical_xor.default: lambda self, other: (self != 0) ^ (other != 0),
    aten.var.correction: _variance,
    aten.var_mean.correction: _variance_and_mean,
}
