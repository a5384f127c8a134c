# SPDX-License-Identifier: BSD-3-Clause
"""Steps of compilers that compute on quantized values where all around a call is quantized, and in floats elsewhere.

before: %d = dequantize(%x); %c = conv(%d, dequantize(%w)); %r = relu(%c); %q = quantize(%r)
after:  ModeStep(head=%c, result=%q, last=%r, is_quantized=True), which reads %x"""

from __future__ import annotations

import operator
from collections.abc import Iterable, Sequence
from dataclasses import dataclass, replace
from typing import Any

import torch
from torch.fx import Graph, Node

from executorch.exir.backend.lowering.op_table import AnyRow, Constants, OpTable
from executorch.exir.backend.lowering.quantized import (
    Quantization,
    is_dequantize,
    is_quantize,
    quantization_of,
)
from executorch.exir.backend.lowering.steps import Step, nodes_of, sources_of
from executorch.exir.graph_facts import op_name

# Calls that give what they read, in other sizes at most.
_COPIES = frozenset(
    {
        "",
        "aten.view_copy.default",
        "aten.alias_copy.default",
        "aten.clone.default",
        "aten.detach_copy.default",
        "aten.unsqueeze_copy.default",
        "aten.squeeze_copy.dims",
        "dim_order_ops._clone_dim_order.default",
    }
)


def without_conversions(nodes: Iterable[Node], constants: Constants) -> list[Node]:
    """Those that neither quantize nor dequantize, and are no data."""
    return [
        each
        for each in nodes
        if not is_quantize(each) and not is_dequantize(each) and each not in constants
    ]


def only_copies(nodes: Iterable[Node]) -> bool:
    """Whether a delegate of these would move nothing and compute nothing."""
    return all(op_name(each) in _COPIES for each in nodes)


@dataclass(frozen=True)
class ModeStep(Step):
    """`last`: the value before the quantize."""

    last: Node | None = None
    is_quantized: bool = False


def static_qparams(node: object) -> Quantization | None:
    """Of a quantize or dequantize with one scale and zero point that are known."""
    qparams = quantization_of(node) if isinstance(node, Node) else None
    return qparams if qparams is not None and qparams.is_static else None


def qparams_of(node: Node) -> Quantization | None:
    """Of a quantized value: as its quantize says, else what dequantizes it."""
    if is_quantize(node):
        return static_qparams(node)
    found = [static_qparams(user) for user in node.users if is_dequantize(user)]
    return found[0] if found else None


def is_float(node: Node) -> bool:
    value = node.meta.get("val")
    return isinstance(value, torch.Tensor) and value.dtype.is_floating_point


def in_its_mode(step: Any, constants: Constants) -> Any:
    """With the quantize behind it, if it computes on quantized values."""
    step = replace(step, last=step.result)
    if is_dequantize(step.head) or not _reads_quantized(step, constants):
        return step
    results = results_of(step)
    if not all(map(is_float, results)):
        return replace(step, is_quantized=not any(map(is_float, results)))
    if not all(quantized_result(each) for each in results):
        return step
    only = len(results) == 1 and results[0] is step.result
    result = quantized_result(step.result) if only else step.result
    return replace(step, result=result, is_quantized=True)


def results_of(step: Step) -> list[Node]:
    """The values that come out: one, or the items that are read."""
    items = [user for user in step.result.users if user.target is operator.getitem]
    is_many = isinstance(step.result.meta.get("val"), tuple | list)
    return items if is_many else [step.result]


def results_of_many(step: ModeStep) -> list[Node]:
    """Items of a call that gives several."""
    found = results_of(step)
    return found if found != [step.result] and found != [step.last] else []


def quantized_result(node: Node) -> Node | None:
    """The quantize that alone reads a value."""
    users = list(node.users)
    is_one = len(users) == 1 and is_quantize(users[0]) and users[0].args[0] is node
    return users[0] if is_one and static_qparams(users[0]) is not None else None


def delegated_with(step: ModeStep, constants: Constants) -> list[Node]:
    """The step's calls with the dequantizes that it reads, the quantizes of its items, and the items."""
    before = [
        each
        for each in step.head.all_input_nodes
        if step.is_quantized and is_dequantize(each) and each not in constants
    ]
    behind = [user for each in nodes_of(step) for user in _items(each)]
    if step.is_quantized:
        behind += [user for item in results_of_many(step) for user in item.users]
    return [*before, *nodes_of(step), *behind]


def remaining(steps: Sequence[ModeStep]) -> list[ModeStep]:
    """Without the quantizes that quantized steps take along, and the dequantizes that only such steps read."""
    quantized = [each for each in steps if each.is_quantized]
    gone = {each.result for each in quantized if each.result is not each.head}
    gone |= {user for each in quantized for item in results_of_many(each) for user in item.users}
    heads = {each.head for each in quantized}
    return [
        each
        for each in steps
        if each.head not in gone
        and not (is_dequantize(each.head) and heads.issuperset(each.head.users))
    ]


def dequantizes_read(steps: Iterable[ModeStep]) -> set[Node]:
    """What quantized steps read as it is stored."""
    return {
        each
        for step in steps
        if step.is_quantized
        for each in step.head.all_input_nodes
        if is_dequantize(each)
    }


class ModeTable(OpTable[AnyRow]):
    """Of rows that compute on quantized values where all around a call is quantized."""

    def step_of(self, node: Node, constants: Constants) -> Any:
        """A call with its tail, and the quantize behind that where it is quantized."""
        return in_its_mode(self.step_at(node), constants)

    def steps_of(self, graph: Graph, constants: Constants) -> list[Any]:
        """All of a graph, but for what quantized steps take along."""
        steps = [
            self.step_of(each.head, constants) if each.pattern is None else each
            for each in self.steps(graph, constants)
        ]
        return remaining(steps)


def _items(node: Node) -> list[Node]:
    is_many = isinstance(node.meta.get("val"), tuple | list)
    return list(node.users) if is_many else []


def _reads_quantized(step: Step, constants: Constants) -> bool:
    """Whether all floats that vary are dequantized, and at least one is; of constants alone, whether one is, or nothing
    is read."""
    sources = list(sources_of(step))
    varying = [each for each in sources if each not in constants and is_float(each)]
    if not varying:
        from_quantized = any(
            is_dequantize(each) and static_qparams(each) is not None for each in sources
        )
        return from_quantized or not step.head.all_input_nodes
    return all(is_dequantize(each) and static_qparams(each) is not None for each in varying)
