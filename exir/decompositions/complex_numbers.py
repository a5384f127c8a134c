# SPDX-License-Identifier: BSD-3-Clause
"""Complex numbers from their parts, and their angles."""

from __future__ import annotations

import math

import torch

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
