# SPDX-License-Identifier: BSD-3-Clause
"""What one row of the table says: a model class, its small configuration, its inputs and their dynamic sizes."""

from __future__ import annotations

from dataclasses import asdict, dataclass, field
from typing import Any

# The size of an input's dimension: a number, or the name of a dynamic size of the row.
Size = int | str


@dataclass(frozen=True)
class Input:
    """A tensor by kind (ids, ones, floats, zeros) and shape; ids are drawn below `high`."""

    kind: str
    shape: tuple[Size, ...]
    high: int = 0


@dataclass(frozen=True)
class Architecture:
    """`model` and `config` are names in `transformers`; `sizes` gives each dynamic size its (min, max)."""

    name: str
    kind: str
    model: str
    config: str
    arguments: dict[str, Any]
    inputs: dict[str, Input]
    sizes: dict[str, tuple[int, int]] = field(default_factory=dict)

    def as_json(self) -> dict[str, Any]:
        """What the process that builds the model reads (it imports nothing of this repository)."""
        return asdict(self)


VOCABULARY = 128


def ids(*shape: Size, high: int = VOCABULARY) -> Input:
    return Input("ids", shape, high)


def ones(*shape: Size) -> Input:
    return Input("ones", shape)


def zeros(*shape: Size) -> Input:
    return Input("zeros", shape)


def floats(*shape: Size) -> Input:
    return Input("floats", shape)
