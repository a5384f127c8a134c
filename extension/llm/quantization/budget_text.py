# SPDX-License-Identifier: BSD-3-Clause
"""What the text of `quantization.budget` means."""

from __future__ import annotations

import math
import re
from dataclasses import dataclass

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


def budget_of(text: str) -> Budget:
    """Of "perplexity +3%" (beside the model's in floats), "80 MB" or "1.2 GB". Raises ValueError for anything else."""
    if (found := _BUDGET.fullmatch(text)) is None:
        raise ValueError(
            f"quantization.budget: expected a loss such as 'perplexity +3%' or a size such as '80 MB', found {text!r}"
        )
    if found[1]:
        return Budget(text, loss=math.log1p(float(found[1]) / 100))
    return Budget(text, bytes=float(found[2]) * _UNITS[found[3].upper()])
