# SPDX-License-Identifier: BSD-3-Clause
"""What becomes one node of XNNPACK: a head with its batch norm and its limits."""

from __future__ import annotations

from dataclasses import dataclass
from enum import Enum
from math import inf

from torch.fx import Node

from executorch.exir.backend.lowering import steps
from executorch.exir.backend.lowering.patterns import HEAD, Call, Value
from executorch.exir.graph_facts import op_name

BATCH_NORM = "aten._native_batch_norm_legit_no_training.default"
CONVOLUTION = "aten.convolution.default"
_LIMITS, _BATCH_NORM = "limits", "batch_norm"


class Mode(Enum):
    FLOAT = 0
    STATIC = 1  # reads and writes 8-bit values; the result is a quantize
    DYNAMIC = 2  # quantizes the rows of its input while running; the result is float


@dataclass(frozen=True)
class Step(steps.Step):
    mode: Mode = Mode.FLOAT

    @property
    def limits(self) -> tuple[float, float] | None:
        found = self.named.get(_LIMITS)
        return None if found is None else limits_of(found)

    @property
    def batch_norm(self) -> Node | None:
        return self.named.get(_BATCH_NORM)


def limits_of(node: Node) -> tuple[float, float] | None:
    """Of a relu, hardtanh or clamp by numbers; None for anything else."""
    bounds = (*node.args[1:], None, None)
    match op_name(node):
        case "aten.relu.default":
            return 0.0, inf
        case "aten.hardtanh.default":
            low = -1.0 if bounds[0] is None else bounds[0]
            high = 1.0 if bounds[1] is None else bounds[1]
        case "aten.clamp.default":
            low = -inf if bounds[0] is None else bounds[0]
            high = inf if bounds[1] is None else bounds[1]
        case _:
            return None
    if not (isinstance(low, int | float) and isinstance(high, int | float) and low < high):
        return None
    return float(low), float(high)


def _limited(inner: Call | Value) -> Call:
    """With a relu, hardtanh or clamp by numbers behind it, or without."""
    return Call(
        ("aten.relu.default", "aten.hardtanh.default", "aten.clamp.default"),
        inner,
        name=_LIMITS,
        where=lambda node: limits_of(node) is not None,
        optional=True,
    )


# What becomes part of the node of the call before.
LIMITS = _limited(HEAD)
NORM_AND_LIMITS = _limited(Call(BATCH_NORM, HEAD, name=_BATCH_NORM, optional=True))


def foldable_convolution(batch_norm: Node) -> Node | None:
    """The convolution that a batch norm can be folded into, when nobody else reads it."""
    source = batch_norm.args[0]
    if not isinstance(source, Node) or op_name(source) != CONVOLUTION or len(source.users) != 1:
        return None
    return source
