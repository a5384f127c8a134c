# SPDX-License-Identifier: BSD-3-Clause
"""Calls that a backend runs as one: a head with what follows it alone, or a pattern of a row.

before: %a = conv(%x); %b = batch_norm(%a)[0]; %c = relu(%b)     after: Step(head=%a, result=%c)

Rows say the last two as their `tail`: LIMITS, or NORM_AND_LIMITS.
"""

from __future__ import annotations

import operator
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from math import inf
from typing import Any

from torch.fx import Node

from executorch.exir.backend.lowering.patterns import HEAD, Call, Value
from executorch.exir.graph_facts import only_user, op_name

BATCH_NORM = "aten._native_batch_norm_legit_no_training.default"
LIMITING = ("aten.relu.default", "aten.hardtanh.default", "aten.clamp.default")
_LIMITS, _BATCH_NORM = "limits", "batch_norm"


@dataclass(frozen=True)
class Step:
    """`head` computes, `result` is the node whose value comes out: the same, or reached from it by single users, or
    from the last of `calls`, which are all where a pattern was found. `named`: what the pattern names; `pattern`: the
    key of its row where that is no operator. Backends that need more derive."""

    head: Node
    result: Node
    calls: tuple[Node, ...] = ()
    named: Mapping[str, Any] = field(default_factory=dict, compare=False)
    pattern: Call | None = None

    @property
    def limits(self) -> tuple[float, float] | None:
        """Least and largest result, where a pattern of `limited` found what says them."""
        found = self.named.get(_LIMITS)
        return None if found is None else limits_of(found)

    @property
    def batch_norm(self) -> Node | None:
        return self.named.get(_BATCH_NORM)


def nodes_of(step: Step) -> list[Node]:
    """Head, result and what lies between."""
    nodes = list(step.calls or (step.head,))
    while nodes[-1] is not step.result:
        (user,) = nodes[-1].users
        nodes.append(user)
    return nodes


def sources_of(step: Step) -> list[Node]:
    """What its calls read of others, each once."""
    inside = nodes_of(step)
    read = dict.fromkeys(each for node in inside for each in node.all_input_nodes)
    return [each for each in read if each not in inside]


def first_item(node: Node) -> Node | None:
    """The getitem of output 0, when no other output is used."""
    user = only_user(node)
    is_item = user is not None and user.target is operator.getitem and user.args[1] == 0
    return user if is_item else None


def limits_of(node: Node) -> tuple[float, float] | None:
    """Of a relu, hardtanh or clamp by numbers, infinite where there is none, also as captured graphs have them; None
    for anything else."""

    def bound(place: int, name: str, left_out: float) -> Any:
        given = node.args[place] if place < len(node.args) else node.kwargs.get(name)
        return left_out if given is None else given

    match op_name(node).replace("_.", "."):
        case "aten.relu.default":
            return 0.0, inf
        case "aten.relu6.default":
            return 0.0, 6.0
        case "aten.hardtanh.default":
            low, high = bound(1, "min_val", -1.0), bound(2, "max_val", 1.0)
        case "aten.clamp.default":
            low, high = bound(1, "min", -inf), bound(2, "max", inf)
        case _:
            return None
    is_known = isinstance(low, int | float) and isinstance(high, int | float) and low <= high
    return (float(low), float(high)) if is_known else None


def has_limits(node: Node) -> bool:
    return limits_of(node) is not None


def limited(inner: Call | Value, where: Callable[[Node], bool] = has_limits) -> Call:
    """With a relu, hardtanh or clamp by numbers behind it, or without."""
    return Call(LIMITING, inner, name=_LIMITS, where=where, optional=True)


def limited_norm(where: Callable[[Node], bool] = has_limits) -> Call:
    """With a batch norm behind the head, and limits behind that, or without either."""
    return limited(Call(BATCH_NORM, HEAD, name=_BATCH_NORM, optional=True), where)


LIMITS, NORM_AND_LIMITS = limited(HEAD), limited_norm()
