# SPDX-License-Identifier: BSD-3-Clause
"""How weights are held, and the names that configs and commands give it."""

from __future__ import annotations

import math
import re
from dataclasses import dataclass
from typing import Any

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


_BUDGET = re.compile(
    r"\s*(?:perplexity\s*\+\s*(\d+(?:\.\d+)?)\s*%|(\d+(?:\.\d+)?)\s*(MB|GB))\s*", re.I
)
_UNITS = {"MB": 1e6, "GB": 1e9}


@dataclass(frozen=True)
class Budget:
    """What a program may lose, `loss` nats of a token, or how many `bytes` it may have; the other is None."""

    text: str
    loss: float | None = None
    bytes: float | None = None

    def __str__(self) -> str:
        return self.text


def budget(text: str) -> Budget:
    """Of "perplexity +3%" (beside the model's in floats), "80 MB" or "1.2 GB". Raises ValueError for anything else."""
    if (found := _BUDGET.fullmatch(text)) is None:
        raise ValueError(
            f"quantization.budget: expected a loss such as 'perplexity +3%' or a size such as '80 MB', found {text!r}"
        )
    if found[1]:
        return Budget(text, loss=math.log1p(float(found[1]) / 100))
    return Budget(text, bytes=float(found[2]) * _UNITS[found[3].upper()])
