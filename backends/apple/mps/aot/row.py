# SPDX-License-Identifier: BSD-3-Clause
"""A row of the backend's table: what an operator reads and gives, which nodes it becomes, and how they are written."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, field
from typing import Any

import torch
from torch.fx import Node

from executorch.exir.backend.lowering.op_table import Condition, Row, when
from executorch.exir.graph_facts import arguments_by_name

Dtypes = frozenset[torch.dtype]
HALVES: Dtypes = frozenset({torch.float16, torch.bfloat16})
FLOATS: Dtypes = HALVES | {torch.float32}
INTS: Dtypes = frozenset({torch.int8, torch.int16, torch.int32, torch.int64, torch.uint8})
BOOL: Dtypes = frozenset({torch.bool})
NUMBERS = FLOATS | INTS
ALL = NUMBERS | BOOL
Lower = Callable[[Any, Any], None]  # of writer and step


@dataclass(frozen=True)
class MpsRow(Row):
    """`nodes`: the kinds that it writes."""

    nodes: tuple[str, ...] = field(default=(), kw_only=True)


def row(nodes: str, lower: Lower, gives: Dtypes, *conditions: Condition) -> MpsRow:
    """`nodes`: their names without MPS. `gives`: the dtypes of the first result."""
    names = ", ".join(sorted(str(each).removeprefix("torch.") for each in gives))
    check = when(
        lambda call: value_of(call).dtype in gives, f"a result of dtype {names} is expected"
    )
    kinds = tuple(f"MPS{each}" for each in nodes.split())
    return MpsRow(lower, (check, *conditions), nodes=kinds)


def never(reason: str) -> MpsRow:
    """Of an operator that the format has and its only runtime computes otherwise."""

    def lower(writer: Any, step: Any) -> None:
        raise AssertionError("a call that is never taken")

    return MpsRow(lower, (when(lambda call: False, reason),))


def value_of(given: Node) -> torch.Tensor:
    """Of a call, its first result."""
    found = given.meta["val"]
    return found[0] if isinstance(found, tuple | list) else found


def rank(given: Node) -> int:
    return value_of(given).dim()


def sizes(given: Node) -> list[int]:
    return list(value_of(given).shape)


def argument(call: Node, name: str) -> Any:
    """By the schema's name, its default where it is left out."""
    return arguments_by_name(call)[name]


def wrapped(dim: int, given: Node) -> int:
    """A dimension that may count from the end."""
    return dim + rank(given) if dim < 0 else dim


def is_exact(number: float) -> bool:
    """In the format's numbers, which are float32."""
    return float(torch.tensor(number, dtype=torch.float32)) == number
