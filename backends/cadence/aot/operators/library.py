# SPDX-License-Identifier: BSD-3-Clause
"""The library that the families define their operators in. Their formulas give the same bits as the kernels."""

from __future__ import annotations

from collections.abc import Iterable
from pathlib import Path

import torch
from torch import Tensor

from executorch.exir.backend.lowering.kernels.formulas import Number
from executorch.exir.backend.lowering.kernels.library import KernelLibrary

LIBRARY = KernelLibrary("cadence", Path(__file__).parents[1] / "functions.yaml")


def of_8_bits(
    name: str, kinds: str = "asym{0}xasym{0}_asym{0}", overload: str = "per_tensor"
) -> Iterable[str]:
    """The operators of int8 and of uint8 alone."""
    end = f".{overload}" if overload else ""
    return [f"{name}_{kinds.format(each)}{end}" for each in ("8s", "8u")]


def scale_of(multiplier: Number, shift: Number) -> Tensor:
    """multiplier * 2^(shift - 31)."""
    exponent = torch.as_tensor(shift, dtype=torch.float64) - 31
    return (torch.as_tensor(multiplier, dtype=torch.float64) * torch.exp2(exponent)).float()
