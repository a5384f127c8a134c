# SPDX-License-Identifier: BSD-3-Clause
"""Calls that a backend runs as one: a head and what follows it alone.

before: %a = conv(%x); %b = batch_norm(%a)[0]; %c = relu(%b)     after: Step(head=%a, result=%c)
"""

from __future__ import annotations

import operator
from collections.abc import Callable
from dataclasses import dataclass
from typing import TypeVar

from torch.fx import Graph, Node

from executorch.exir.graph_facts import only_user


@dataclass(frozen=True)
class Step:
    """`head` computes, `result` is the node whose value comes out: the same, or reached from it by single users.
    Backends that need more derive."""

    head: Node
    result: Node


AnyStep = TypeVar("AnyStep", bound=Step)


def steps_of(graph: Graph, step_at: Callable[[Node], AnyStep]) -> list[AnyStep]:
    """All calls of a graph, each in one step, in the order of the results. `step_at` gives the step of a head."""
    taken: set[Node] = set()
    steps = []
    for node in graph.nodes:
        if node.op != "call_function" or node in taken:
            continue
        step = step_at(node)
        taken |= set(nodes_of(step)[1:])
        steps.append(step)
    place = {node: index for index, node in enumerate(graph.nodes)}
    return sorted(steps, key=lambda step: place[step.result])


def nodes_of(step: Step) -> list[Node]:
    """Head, result and what lies between."""
    nodes = [step.head]
    while nodes[-1] is not step.result:
        (user,) = nodes[-1].users
        nodes.append(user)
    return nodes


def first_item(node: Node) -> Node | None:
    """The getitem of output 0, when no other output is used."""
    user = only_user(node)
    is_item = user is not None and user.target is operator.getitem and user.args[1] == 0
    return user if is_item else None
