# SPDX-License-Identifier: BSD-3-Clause
"""A step is on quantized values where all that varies around its call is quantized; it takes those along."""

from __future__ import annotations

import operator
from dataclasses import replace

import torch
from torch.fx import Node

from executorch.exir.backend.lowering.mode_steps import (
    ModeStep,
    delegated_with,
    dequantizes_read,
    in_its_mode,
    remaining,
)
from executorch.exir.backend.lowering.quantized_steps_test import ATEN, Calls

FLOAT, INT8 = torch.zeros(2, 4), torch.zeros(2, 4, dtype=torch.int8)


class Typed(Calls):
    """Values as their calls give them."""

    def __init__(self) -> None:
        super().__init__()
        self.x.meta["val"], self.w.meta["val"] = INT8, FLOAT

    def __call__(self, target, *args, **kwargs) -> Node:
        made = super().__call__(target, *args, **kwargs)
        is_quantize = "::quantize" in str(target) or ".quantize" in str(target)
        made.meta["val"] = (FLOAT, FLOAT) if target is ATEN.split.Tensor else FLOAT
        if is_quantize:
            made.meta["val"] = INT8
        return made


def mode(head: Node, *constants: Node) -> ModeStep:
    return in_its_mode(ModeStep(head, head), constants)


def test_a_call_between_dequantize_and_quantize() -> None:
    c = Typed()
    x = c.dequantize(c.x, 0.5, 3)
    total = c(ATEN.add.Tensor, x, x)
    back = c.quantize(total, 1.0)
    step = mode(total)
    assert step == ModeStep(total, back, last=total, is_quantized=True)
    assert delegated_with(step, ()) == [x, total, back]
    assert dequantizes_read([step, ModeStep(back, back)]) == {x}
    assert remaining([ModeStep(x, x), step, ModeStep(back, back)]) == [step]


def test_a_float_on_either_side_keeps_it_in_floats() -> None:
    c = Typed()
    x = c.dequantize(c.x, 0.5)
    mixed, read = c(ATEN.add.Tensor, x, c.w), c(ATEN.add.Tensor, x, x)
    c.quantize(mixed, 1.0)
    c.graph.output((c.quantize(read, 1.0), read))
    assert not mode(mixed).is_quantized and mode(mixed, c.w).is_quantized
    assert not mode(read).is_quantized and not dequantizes_read([mode(read)])
    steps = [ModeStep(x, x), mode(mixed, c.w), mode(read)]
    assert remaining(steps) == steps  # the dequantize is read as a float, too


def test_items_are_quantized_each() -> None:
    c = Typed()
    x = c.dequantize(c.x, 0.5)
    parts = c(ATEN.split.Tensor, x, 1)
    items = [c(operator.getitem, parts, place) for place in range(2)]
    backs = [c.quantize(item, 0.5) for item in items]
    for item in items:
        item.meta["val"] = FLOAT
    step = mode(parts)
    assert step.is_quantized and step.result is parts
    assert delegated_with(step, ()) == [x, parts, *items, *backs]
    assert remaining([step, *(ModeStep(each, each) for each in backs)]) == [step]
    floats = replace(step, is_quantized=False)
    assert delegated_with(floats, ()) == [parts, *items]
