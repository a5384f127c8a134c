# SPDX-License-Identifier: BSD-3-Clause
"""What becomes TOSA operators together: a call with its batch norm and limits, and, where it computes on quantized
values, the quantize behind it.

before: %d = dequantize(%x); %c = conv(%d, dequantize(%w)); %r = relu(%c); %q = quantize(%r)
after:  Step(head=%c, result=%q, last=%r, is_quantized=True), which reads %x as it is stored"""

from __future__ import annotations

import operator
from dataclasses import dataclass, replace

import torch
from torch.fx import Node

from executorch.exir.backend.lowering import steps
from executorch.exir.backend.lowering.op_table import Constants
from executorch.exir.backend.lowering.patterns import HEAD, Call, find
from executorch.exir.backend.lowering.quantized import (
    Quantization,
    is_dequantize,
    is_quantize,
    quantization_of,
)
from executorch.exir.graph_facts import only_user

_CASTS = ("dim_order_ops._to_dim_order_copy.default", "aten._to_copy.default")
AS_INT32 = Call(_CASTS, HEAD, where=lambda node: node.meta["val"].dtype == torch.int32)


@dataclass(frozen=True)
class Step(steps.Step):
    """`last`: the value before the quantize."""

    last: Node | None = None
    is_quantized: bool = False


def static(node: object) -> Quantization | None:
    """What a quantize or dequantize says, if it is one scale and zero point that are known."""
    qparams = quantization_of(node) if isinstance(node, Node) else None
    return qparams if qparams is not None and qparams.is_static else None


def is_float(node: Node) -> bool:
    value = node.meta.get("val")
    return isinstance(value, torch.Tensor) and value.dtype.is_floating_point


def in_its_mode(step: Step, constants: Constants) -> Step:
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


def with_limits(head: Node) -> Step:
    """A call and the limits behind it, if there are some."""
    user = only_user(head)
    found = None if user is None else find(steps.LIMITS, user, head)
    return Step(head, head) if found is None else Step(head, user, found.calls, found.named)


def results_of(step: Step) -> list[Node]:
    """The values that come out: one, or the items that are read."""
    items = [user for user in step.result.users if user.target is operator.getitem]
    is_many = isinstance(step.result.meta.get("val"), tuple | list)
    return items if is_many else [step.result]


def quantized_result(node: Node) -> Node | None:
    """The quantize that alone reads a value."""
    users = list(node.users)
    is_one = len(users) == 1 and is_quantize(users[0]) and users[0].args[0] is node
    return users[0] if is_one and static(users[0]) is not None else None


def _reads_quantized(step: Step, constants: Constants) -> bool:
    """Whether all floats that vary are dequantized, and at least one is; of constants alone, whether one is, or nothing
    is read."""
    sources = list(steps.sources_of(step))
    varying = [each for each in sources if each not in constants and is_float(each)]
    if not varying:
        stored = any(is_dequantize(each) and static(each) is not None for each in sources)
        return stored or not step.head.all_input_nodes
    return all(is_dequantize(each) and static(each) is not None for each in varying)
