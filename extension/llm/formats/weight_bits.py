# SPDX-License-Identifier: BSD-3-Clause
"""Integers of few bits with a scale for a group of columns: the names that configs and commands give them, and the
tensor of torchao that holds them."""

from __future__ import annotations

import re
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from torch import Tensor, dtype
    from torchao.quantization import IntxUnpackedToInt8Tensor

# group of 8da4w and of the torchao forms where none is given
DEFAULT_GROUP = 128
# behind a qmode whose weights are rounded by what a text makes of them
BY_TEXT = "-gptq"
# inputs that become int8 while running, or floats, and the bits of a weight
_NAME = re.compile(r"(?:torchao:)?(8da|fpa|)([1-8])w")


@dataclass(frozen=True)
class WeightBits:
    """`group` columns of a row share a scale; 0: all of them. `dynamic`: inputs become int8 while running."""

    bits: int
    group: int
    dynamic: bool = False

    def fits(self, columns: int) -> bool:
        """Whether groups fill a row."""
        return not self.group or columns % self.group == 0

    @property
    def dtype(self) -> Any:
        import torch  # late: configs need none

        return getattr(torch, f"int{self.bits}")

    @property
    def inputs(self) -> str | None:
        """What torchao calls integers that inputs become while running."""
        return "int8_asym_per_token" if self.dynamic else None


def linear_bits(name: str, group: int | None) -> WeightBits:
    """What 8da4w, 4w, int8, torchao:fpa3w and others mean, with BY_TEXT behind it, too; a group of None is what such a
    qmode has. Raises ValueError for a name that does not exist."""
    if name == "int8":
        return WeightBits(8, group or 0)
    if (found := _NAME.fullmatch(name.removesuffix(BY_TEXT))) is None:
        raise ValueError(f"quantization.qmode: no such mode: {name!r}")
    return WeightBits(int(found[2]), DEFAULT_GROUP if group is None else group, found[1] == "8da")


def embedding_bits(text: str) -> WeightBits:
    """What `bits,group` means; a group of 0 or none, or without one, is a scale for each row."""
    bits, _, group = text.removeprefix("torchao:").partition(",")
    group = group.split(",")[0].strip().lower()
    return WeightBits(int(bits), 0 if group in ("", "none") else int(group))


def limits(bits: int) -> tuple[int, int]:
    return -(1 << bits - 1), (1 << bits - 1) - 1


def weight_of_codes(
    codes: Tensor, scales: Tensor, wanted: WeightBits, held_as: dtype
) -> IntxUnpackedToInt8Tensor:
    """Of symmetric codes, a byte each, and their scales [rows, groups]."""
    import torch
    from torchao.quantization import IntxUnpackedToInt8Tensor

    return IntxUnpackedToInt8Tensor(
        codes,
        scales,
        torch.zeros(scales.shape, dtype=torch.int8),
        wanted.dtype,
        (1, wanted.group or codes.shape[1]),
        held_as,
        wanted.inputs,
    )
