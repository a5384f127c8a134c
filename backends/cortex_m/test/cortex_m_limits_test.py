# SPDX-License-Identifier: BSD-3-Clause
"""Every condition of passes/table.py: calls that stay in floats for that reason, and calls beside them that do not."""

from __future__ import annotations

import pytest
import torch
from torch import Tensor
from torch.export import ExportedProgram

from executorch.backends.cortex_m.passes import convolution_and_linear, data_movement, elementwise
from executorch.backends.cortex_m.passes.calls import IMAGES
from executorch.backends.cortex_m.passes.cortex_m_pass_manager import (
    AtenToCortexMPass,
    ReplaceQuantNodesPass,
)
from executorch.backends.cortex_m.passes.table import TABLE
from executorch.backends.test.conformance.condition_cases import Case, without_case
from executorch.backends.test.conformance.single_call import OPERAND, Call, Data, Numbers
from executorch.exir import to_edge
from executorch.exir.graph_facts import op_name

PART: Numbers = (1 / 256, -128, -128, 127, torch.int8)


def call(name: str, *args: object, **kwargs: object) -> Call:
    return Call(f"aten.{name}", args, kwargs)


def image(*sizes: int) -> Tensor:
    return torch.zeros(sizes).to(memory_format=torch.channels_last)


def weight(*sizes: int, dtype: torch.dtype = torch.int8) -> Data:
    return Data(torch.ones(sizes, dtype=dtype), 0.01)


def conv(
    x: Tensor, w: object, out: int | None = None, groups: int = 1, bias: object = None
) -> Call:
    """`out`: padding of a transposed one."""
    rank = x.dim() - 2
    lists = ([1] * rank, [0] * rank, [1] * rank)
    is_turned, extra = out is not None, [out or 0] * rank
    return call("convolution.default", x, w, bias, *lists, is_turned, extra, groups)


X, ROW, PHOTO, PLAIN = torch.zeros(3, 4), torch.zeros(4), image(1, 2, 6, 6), torch.zeros(1, 2, 6, 6)
TWO = [call("add.Tensor", X, X), call("mul.Tensor", X, X)]
ONES = [call("sigmoid.default", X), call("elu.default", X, 0.5)]
POOL = "avg_pool2d.default"
LARGEST = "max_pool2d_with_indices.default"
BATCH = torch.zeros(2, 3, 4)
INT8 = "operands and a result in the whole range of int8"
LAYER = call("linear.default", X, weight(5, 4))
CONV = conv(PHOTO, weight(3, 2, 3, 3))
PADS = [call("constant_pad_nd.default", torch.zeros([1] * rank), [1, 1]) for rank in (4, 5)]
SCALES = "one scale and one zero point of all"

CASES = [
    Case(INT8, [*TWO, *ONES, LAYER, CONV]).stored((0.05, 3, -127, 127, torch.int8)),
    Case(INT8, [*TWO, *ONES]).stored((0.05, 3, 0, 255, torch.uint8)),
    Case(INT8, [*TWO, *ONES, LAYER, CONV]).stored(OPERAND, (0.04, -9, -100, 127, torch.int8)),
    Case(
        elementwise.ONE_SHAPE,
        [
            call("add.Tensor", PHOTO, PLAIN),
            call("mul.Tensor", X, torch.zeros(3, 1)),
            call("add.Tensor", PHOTO, torch.zeros(6)),
            call("add.Tensor", BATCH, torch.zeros(3, 4)),
        ],
        [
            *TWO,
            call("add.Tensor", X, ROW),
            call("add.Tensor", ROW, X),
            call("mul.Tensor", X, torch.zeros(1)),
            call("add.Tensor", PHOTO, image(1, 2, 1, 1)),
            call("mul.Tensor", image(1, 2, 1, 1), PHOTO),
            call("add.Tensor", PHOTO, PHOTO),
        ],
    ).stored(),
    Case(
        elementwise.NO_FACTOR,
        [call("add.Tensor", X, X, alpha=2)],
        [call("add.Tensor", X, X, alpha=1)],
    ).stored(),
    Case("a result in steps of 1/256", [call("_softmax.default", X, -1, False)]).stored(),
    Case(
        elementwise.INNERMOST,
        [
            call("_softmax.default", X, 0, False),
            call("_softmax.default", PHOTO, 3, False),
            call("_softmax.default", PLAIN, 1, False),
            call("_softmax.default", BATCH, 1, False),
        ],
        [
            call("_softmax.default", X, 1, False),
            call("_softmax.default", X, -1, False),
            call("_softmax.default", PHOTO, -3, False),
            call("_softmax.default", PLAIN, 3, False),
        ],
    ).stored(OPERAND, PART),
    Case(
        convolution_and_linear.WEIGHTS,
        [
            call("linear.default", X, torch.zeros(5, 4)),
            call("linear.default", X, weight(5, 4, dtype=torch.int16)),
            conv(PHOTO, weight(3, 2, 3, 3), bias=torch.zeros(3)),
            conv(PHOTO, Data(torch.ones(3, 2, 3, 3))),
        ],
        [LAYER, conv(PHOTO, weight(3, 2, 3, 3), bias=weight(3, dtype=torch.int32))],
    ).stored(),
    Case(
        convolution_and_linear.ONE_SCALE,
        [call("linear.default", X, Data(torch.ones((5, 4), dtype=torch.int8), (0.01,) * 5))],
        [LAYER],
    ).stored(),
    Case(
        "two dimensions are expected",
        [
            conv(torch.zeros(1, 2, 6), weight(3, 2, 3)),
            conv(PHOTO, weight(2, 1, 3, 3), out=0, groups=2),
        ],
        [CONV, conv(PHOTO, weight(2, 3, 3, 3), out=0), conv(PHOTO, weight(2, 1, 3, 3), groups=2)],
    ).stored(),
    Case(
        "contiguous matrices are expected",
        [call("bmm.default", BATCH, BATCH.transpose(1, 2))],
        [call("bmm.default", BATCH, torch.zeros(2, 4, 5))],
    ).stored(),
    Case(
        SCALES,
        [
            call("amax.default", X, [1]),
            call(POOL, PHOTO, [2, 2]),
            call("permute_copy.default", X, [1, 0]),
        ],
    ).stored(),
    Case(
        "no ceil_mode and no divisor_override",
        [
            call(POOL, PHOTO, [2, 2], [1, 1], [0, 0], True),
            call(POOL, PHOTO, [2, 2], [1, 1], [0, 0], False, True, 3),
        ],
        [call(POOL, PHOTO, [2, 2], [1, 1], [1, 1], False, False), call(POOL, PHOTO, [2], [1])],
    ).stored(OPERAND, OPERAND),
    Case(
        "no dilation and no ceil_mode",
        [
            call(LARGEST, PHOTO, [2, 2], [1, 1], [0, 0], [2, 2]),
            call(LARGEST, PHOTO, [2, 2], [1, 1], [0, 0], [1, 1], True),
        ],
        [call(LARGEST, PHOTO, [2, 2], [1, 1], [0, 0], [1, 1], False), call(LARGEST, PHOTO, [2])],
    ).stored(OPERAND, OPERAND),
    Case(
        IMAGES,
        [call(POOL, PLAIN, [2, 2]), call(LARGEST, PLAIN, [2, 2])],
        [call(POOL, PHOTO, [2, 2]), call(POOL, torch.zeros(1, 1, 6, 6), [2, 2])],
    ).stored(OPERAND, OPERAND),
    Case(IMAGES, [conv(PLAIN, weight(3, 2, 3, 3))], [CONV]).stored(),
    # What portable kernels move as bytes is taken in any case.
    Case("", [], [*PADS, call("permute_copy.default", PHOTO, [0, 2, 3, 1])]).stored(
        OPERAND, OPERAND
    ),
    Case(
        "limits that are numbers are expected",
        [call("clamp.default", X, 2, 1)],
        [call("clamp.default", X, 1, 2), call("relu.default", X), call("hardtanh.default", X)],
    ).stored(OPERAND, OPERAND),
]


def why_not(program: ExportedProgram, name: str) -> str:
    """Of the quantize behind the call."""
    reasons = AtenToCortexMPass(program).why_not(program.graph_module).items()
    behind = {node: node.args[0] for node, _ in reasons}
    return next((why for node, why in reasons if op_name(_call(behind[node])) == name), "")


def _call(value: object) -> object:
    """Of an item, what gives it."""
    return value.args[0] if op_name(value) == "" and getattr(value, "args", ()) else value


@pytest.mark.parametrize("part", range(2))
def test_each_condition_has_calls_on_both_sides(part: int) -> None:
    assert [text for case in CASES[part::2] for text in case.disagreements(why_not)] == []


class Between(torch.nn.Module):
    """A quantize and a dequantize with these numbers."""

    def __init__(self, numbers: Numbers, dtype: torch.dtype = torch.float32) -> None:
        super().__init__()
        self.numbers, self.dtype = numbers, dtype

    def forward(self, x: Tensor) -> Tensor:
        of = torch.ops.quantized_decomposed
        stored = of.quantize_per_tensor(x, *self.numbers)
        return of.dequantize_per_tensor(stored, *self.numbers, out_dtype=self.dtype)


SMALL_CASES = [
    (Between(OPERAND), X, 2),
    (Between((0.01, 3, -100, 90, torch.int8)), X, 2),
    (Between((0.01, 3, -32768, 32767, torch.int16)), X, 2),
    (Between(OPERAND), PHOTO, 2),
    (Between((0.01, 3, 0, 255, torch.uint8)), X, 0),
    (Between((0.01, 3, -(2**31), 2**31 - 1, torch.int32)), X, 0),
    (Between((0.01, 3, -200, 127, torch.int8)), X, 0),
    (Between((0.01, 3, -128, 200, torch.int8)), X, 0),
    (Between(OPERAND, torch.float16), X, 1),
    (Between(OPERAND), torch.zeros(1, 2, 3, 4).permute(0, 3, 1, 2), 2),
    (Between(OPERAND), torch.zeros(2, 3, 4).permute(2, 0, 1), 0),
]


@pytest.mark.parametrize(("model", "x", "count"), SMALL_CASES)
def test_what_is_left_between_floats_and_bytes(model: Between, x: Tensor, count: int) -> None:
    """Kernels of the backend take int8 and int16, float32, and two orders of dimensions."""
    program = to_edge(torch.export.export(model, (x,))).exported_program()
    graph_module = ReplaceQuantNodesPass()(program.graph_module).graph_module
    own = [op_name(node) for node in graph_module.graph.nodes if "cortex_m." in op_name(node)]
    assert len(own) == count


def test_no_condition_is_without_a_case() -> None:
    known = [each for row in TABLE.rows_of_patterns.values() for each in row.conditions]
    kinds = [case.reason for case in CASES if isinstance(case.reason, str) and case.reason]
    missing = without_case(known, CASES)
    assert {each for each in missing if not any(each.startswith(kind) for kind in kinds)} == {
        "an operand in int8 is expected",  # of a gate in two calls
        "up to four contiguous dimensions are expected",
        "up to four dimensions that get larger are expected",
    }
    assert data_movement.SAME.reason.startswith(SCALES)
