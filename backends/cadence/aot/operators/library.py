# SPDX-License-Identifier: BSD-3-Clause
"""The library that the families define their operators in, and the numbers that they share.

Stored values become floats and back in float32, ties to even; what is summed of them are whole numbers, which float64
has exactly. The kernels give the same bits."""

from __future__ import annotations

from collections.abc import Iterable
from pathlib import Path

import torch
from torch import Tensor

from executorch.exir.backend.lowering.kernel_library import KernelLibrary

LIBRARY = KernelLibrary("cadence", Path(__file__).parents[1] / "functions.yaml")
Number = float | int | Tensor


def of_8_bits(
    name: str, kinds: str = "asym{0}xasym{0}_asym{0}", overload: str = "per_tensor"
) -> Iterable[str]:
    """The operators of int8 and of uint8 alone."""
    end = f".{overload}" if overload else ""
    return [f"{name}_{kinds.format(each)}{end}" for each in ("8s", "8u")]


def float32(value: Number) -> Tensor:
    """Of a number, or of a tensor of one."""
    return torch.as_tensor(value, dtype=torch.float32)


def whole(value: Number) -> Number:
    """A zero point: a number, or a tensor of some."""
    return value.double() if isinstance(value, Tensor) else value


def stored(values: Tensor, factor: Tensor, zero_point: Number, limits: tuple[int, int]) -> Tensor:
    """`factor`: the reciprocal of a scale. NaN is the least of the limits."""
    steps = (torch.round(values.float() * factor) + float32(zero_point)).double()
    return torch.where(steps > limits[0], steps.clamp(max=limits[1]), float(limits[0]))


def as_dtype(values: Tensor, factor: Tensor, zero_point: Number, dtype: torch.dtype) -> Tensor:
    info = torch.iinfo(dtype)
    return stored(values, factor, zero_point, (info.min, info.max)).to(dtype)


def real(values: Tensor, scale: Number, zero_point: Number) -> Tensor:
    """What stored values stand for."""
    return without(zero_point, values).float() * float32(scale)


def scale_of(multiplier: Number, shift: Number) -> Tensor:
    """multiplier * 2^(shift - 31)."""
    exponent = torch.as_tensor(shift, dtype=torch.float64) - 31
    return (torch.as_tensor(multiplier, dtype=torch.float64) * torch.exp2(exponent)).float()


def without(zero_point: Number, values: Tensor) -> Tensor:
    """In float64, whose sums of products of such are exact."""
    return values.double() - whole(zero_point)
