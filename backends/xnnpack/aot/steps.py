# SPDX-License-Identifier: BSD-3-Clause
"""Nodes of a program that become one node of XNNPACK: a head with its batch norm and its limits.

before: %a = conv(%x); %b = batch_norm(%a)[0]; %c = relu(%b)     after: Step(head=%a, result=%c, (0, inf), folded=%b)
"""

from __future__ import annotations

import operator
from dataclasses import dataclass
from enum import Enum
from math import inf

from torch.fx import Graph, Node

from executorch.exir.dialects.targets import torch_op

BATCH_NORM = "aten._native_batch_norm_legit_no_training.default"
CONVOLUTION = "aten.convolution.default"
CLAMPABLE = frozenset(
    {
        CONVOLUTION,
        BATCH_NORM,
        "aten.addmm.default",
        "aten.linear.default",
        "aten.add.Tensor",
        "aten.sub.Tensor",
        "aten.mul.Tensor",
        "aten.div.Tensor",
    }
)


class Mode(Enum):
    FLOAT = 0
    STATIC = 1  # reads and writes 8-bit values; the result is a quantize
    DYNAMIC = 2  # quantizes the rows of its input while running; the result is float


@dataclass(frozen=True)
class Step:
    """`head` computes, `result` is the node whose value comes out."""

    head: Node
    result: Node
    limits: tuple[float, float] | None = None
    batch_norm: Node | None = None
    mode: Mode = Mode.FLOAT


def op_name(node: Node) -> str:
    """`aten.add.Tensor`; empty for what is no operator."""
    return str(torch_op(node.target) or "") if node.op == "call_function" else ""


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


def first_item(node: Node) -> Node | None:
    """The getitem of output 0, when no other output is used."""
    users = list(node.users)
    if len(users) == 1 and users[0].target is operator.getitem and users[0].args[1] == 0:
        return users[0]
    return None


def foldable_convolution(batch_norm: Node) -> Node | None:
    """The convolution that a batch norm can be folded into, when nobody else reads it."""
    source = batch_norm.args[0]
    if not isinstance(source, Node) or op_name(source) != CONVOLUTION or len(source.users) != 1:
        return None
    return source


def steps_of(graph: Graph) -> list[Step]:
    """All calls of a graph, each in one step, in the order of the results."""
    taken: set[Node] = set()
    steps = []
    for node in graph.nodes:
        if node.op != "call_function" or node in taken:
            continue
        step = step_at(node)
        taken |= set(_between(step))
        steps.append(step)
    place = {node: index for index, node in enumerate(graph.nodes)}
    return sorted(steps, key=lambda step: place[step.result])


def step_at(head: Node) -> Step:
    """The float step of which `head` is the head."""
    result, batch_norm, limits = head, None, None
    if first_item(head) is not None:
        result = first_item(head)
    user = only_user(result)
    if op_name(head) == CONVOLUTION and user is not None and op_name(user) == BATCH_NORM:
        batch_norm, result = user, first_item(user)
        user = only_user(result)
    if op_name(head) in CLAMPABLE and user is not None and limits_of(user) is not None:
        limits, result = limits_of(user), user
    return Step(head, result, limits, batch_norm)


def only_user(node: Node) -> Node | None:
    users = list(node.users)
    return users[0] if len(users) == 1 and users[0].op == "call_function" else None


def nodes_of(step: Step) -> list[Node]:
    """Head, result and what lies between."""
    return [step.head, *_between(step)]


def _between(step: Step) -> list[Node]:
    """The nodes of a step but its head."""
    nodes, node = [], step.head
    while node is not step.result:
        (node,) = node.users
        nodes.append(node)
    return nodes
