# SPDX-License-Identifier: BSD-3-Clause
"""Calls that a backend runs as one: a head with what follows it alone, or a pattern of a row.

before: %a = conv(%x); %b = batch_norm(%a)[0]; %c = relu(%b)     after: Step(head=%a, result=%c)
"""

from __future__ import annotations

import operator
from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any

from torch.fx import Node

from executorch.exir.backend.lowering.patterns import Call
from executorch.exir.graph_facts import only_user


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
