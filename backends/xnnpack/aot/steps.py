# SPDX-License-Identifier: BSD-3-Clause
"""What becomes one node of XNNPACK: a head with its batch norm and its limits."""

from __future__ import annotations

from dataclasses import dataclass
from enum import Enum

from torch.fx import Node

from executorch.exir.backend.lowering import steps
from executorch.exir.backend.lowering.patterns import HEAD
from executorch.exir.graph_facts import op_name

CONVOLUTION = "aten.convolution.default"


class Mode(Enum):
    FLOAT = 0
    STATIC = 1  # reads and writes 8-bit values; the result is a quantize
    DYNAMIC = 2  # quantizes the rows of its input while running; the result is float


@dataclass(frozen=True)
class Step(steps.Step):
    mode: Mode = Mode.FLOAT


def limits_of(node: Node) -> tuple[float, float] | None:
    """As the kit's, but that XNNPACK takes no range of one number."""
    found = steps.limits_of(node)
    return found if found is not None and found[0] < found[1] else None


def has_limits(node: Node) -> bool:
    return limits_of(node) is not None


# What becomes part of the node of the call before.
LIMITS, NORM_AND_LIMITS = steps.limited(HEAD, has_limits), steps.limited_norm(has_limits)


def foldable_convolution(batch_norm: Node) -> Node | None:
    """The convolution that a batch norm can be folded into, when nobody else reads it."""
    source = batch_norm.args[0]
    if not isinstance(source, Node) or op_name(source) != CONVOLUTION or len(source.users) != 1:
        return None
    return source
