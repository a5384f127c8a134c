# SPDX-License-Identifier: BSD-3-Clause
"""Operators of the `et_copy` namespace: copies between the memory of the host and of a device. In Python both lie in
one memory; the runtime's kernels ask the device's allocator."""

from __future__ import annotations

import torch
from torch.library import Library

lib = Library("et_copy", "DEF")


def _copy(self: torch.Tensor) -> torch.Tensor:
    return self.clone()


def _copy_out(self: torch.Tensor, *, out: torch.Tensor) -> torch.Tensor:
    if out.shape != self.shape:
        out.resize_(self.shape)
    return out.copy_(self)


for _name in ("_h2d_copy", "_d2h_copy"):
    lib.define(f"{_name}(Tensor self) -> Tensor")
    lib.define(f"{_name}.out(Tensor self, *, Tensor(a!) out) -> Tensor(a!)")
    lib.impl(_name, _copy, "CompositeExplicitAutograd")
    lib.impl(f"{_name}.out", _copy_out, "CompositeExplicitAutograd")
