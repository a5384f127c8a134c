# SPDX-License-Identifier: BSD-3-Clause
"""Every condition of aot/table.py: calls that stay in floats for that reason, and calls beside them that do not."""

from __future__ import annotations

import pytest
import torch
from torch import Tensor
from torch.export import ExportedProgram

from executorch.backends.cadence.aot import table
from executorch.backends.test.conformance.condition_cases import Case, without_case
from executorch.backends.test.conformance.single_call import OPERAND, Call, Data, Numbers
from executorch.exir import to_edge
from executorch.exir.backend.lowering.quantized import is_quantize
from executorch.exir.backend.lowering.table_pass import TablePass
from executorch.exir.graph_facts import op_name


def call(name: str, *args: object, **kwargs: object) -> Call:
    return Call(f"aten.{name}", args, kwargs)


def weight(*sizes: int, dtype: torch.dtype = torch.int8) -> Data:
    return Data(torch.ones(sizes, dtype=dtype), 0.01)


def conv(x: Tensor, w: object, is_turned: bool = False, bias: object = None) -> Call:
    rank = x.dim() - 2
    lists = ([1] * rank, [0] * rank, [1] * rank)
    return call("convolution.default", x, w, bias, *lists, is_turned, [0] * rank, 1)


X, BATCH, PHOTO = torch.zeros(3, 4), torch.zeros(2, 3, 4), torch.zeros(1, 2, 6, 6)
LAST = PHOTO.to(memory_format=torch.channels_last)
WIDE: Numbers = (0.01, 5, -32768, 32767, torch.int16)
SMALL: Numbers = (0.01, 5, 0, 255, torch.uint8)
ROW = torch.zeros(2, 1, 8)
BY_CHANNEL = Data(torch.ones((5, 8), dtype=torch.int8), (0.01,) * 5)
LAYER, ADD = call("linear.default", X, weight(5, 4)), call("add.Tensor", X, X)
BMM = call("bmm.default", BATCH, torch.zeros(2, 4, 5))
LARGEST = call("max_pool2d_with_indices.default", PHOTO, [2, 2])
SOFTMAX, RELU = call("_softmax.default", X, 1, False), call("relu.default", X)
NORM = call("native_layer_norm.default", X, [4], None, None, 1e-5)
EACH = [LAYER, ADD, BMM, SOFTMAX, RELU, NORM]
WHOLE = "operands and a result in the whole range"

CASES = [
    Case(WHOLE, EACH).stored((0.05, 3, -127, 127, torch.int8)),
    Case(WHOLE, EACH).stored(OPERAND, (0.04, -9, -128, 100, torch.int8)),
    Case(WHOLE, EACH).stored(WIDE, OPERAND),
    Case(WHOLE, EACH).stored(SMALL, OPERAND),
    Case(WHOLE, [], EACH).stored(),
    Case(WHOLE, [], [LAYER, *EACH[1:]]).stored(WIDE, WIDE),
    Case(WHOLE, [], EACH[1:]).stored(SMALL, SMALL),
    Case(
        table.WEIGHTS,
        [
            call("linear.default", X, torch.zeros(5, 4)),
            call("linear.default", X, Data(torch.ones(5, 4))),
            conv(PHOTO, Data(torch.ones(3, 2, 3, 3))),
            call("linear.default", X, weight(5, 4, dtype=torch.int16)),
            call("linear.default", X, weight(5, 4, dtype=torch.uint8)),
            call("linear.default", X, weight(5, 4), torch.zeros(5)),
            call("linear.default", X, Data(torch.ones((5, 4), dtype=torch.int8), (0.01,) * 5)),
            conv(PHOTO, weight(3, 2, 3, 3), bias=Data(torch.ones(3))),
            conv(PHOTO, weight(3, 2, 3, 3), bias=torch.ones(3)),
        ],
        [
            call("linear.default", X, weight(5, 4), weight(5, dtype=torch.int32)),
            conv(PHOTO, weight(3, 2, 3, 3), bias=weight(3, dtype=torch.int32)),
        ],
    ).stored(),
    Case(
        table.WEIGHTS,
        [call("linear.default", X, weight(5, 4, dtype=torch.uint8))],
        [call("linear.default", X, weight(5, 4, dtype=torch.int16))],
    ).stored(WIDE, WIDE),
    Case(
        table.WEIGHTS, [LAYER], [call("linear.default", X, weight(5, 4, dtype=torch.uint8))]
    ).stored(SMALL, SMALL),
    Case(
        table.PLAIN,
        [conv(LAST, weight(3, 2, 3, 3)), call("add.Tensor", X.t(), X.t())],
        [conv(PHOTO, weight(3, 2, 3, 3))],
    ).stored(),
    Case(table.PLAIN, [call("max_pool2d_with_indices.default", LAST, [2, 2])], [LARGEST]).stored(
        OPERAND, OPERAND
    ),
    Case(
        table.FORWARD,
        [
            conv(PHOTO, weight(2, 3, 3, 3), True),
            conv(torch.zeros(1, 2, 4, 4, 4), weight(3, 2, 2, 2, 2)),
        ],
        [conv(torch.zeros(1, 2, 6), weight(3, 2, 3))],
    ).stored(),
    Case(
        table.MATRICES,
        [
            call("matmul.default", X, torch.zeros(2, 4, 5)),
            call("matmul.default", BATCH, torch.zeros(1, 4, 5)),
            call("bmm.default", BATCH, BATCH.transpose(1, 2)),
            call("mm.default", X, X.t()),
            call("matmul.default", torch.zeros(4), torch.zeros(4)),
        ],
        [BMM, call("mm.default", X, torch.zeros(4, 5))],
    ).stored(),
    Case(table.SAME, [LARGEST, call("cat.default", [X, X])]).stored(),
    Case(table.SAME, [], [LARGEST, call("cat.default", [X, X])]).stored(OPERAND, OPERAND),
    Case(
        "alpha=1 is expected",
        [call("add.Tensor", X, X, alpha=2)],
        [call("add.Tensor", X, X, alpha=1)],
    ).stored(),
    Case(
        "the last dimension is expected",
        [call("_softmax.default", X, 0, False), call("_softmax.default", BATCH, 1, False)],
        [call("_softmax.default", X, -1, False), call("_softmax.default", BATCH, 2, False)],
    ).stored(),
    Case(
        "a quantized input and result, or float32",
        [
            call("linear.default", torch.zeros(2, 1, 6), weight(5, 6), Data(torch.ones(5))),
            call("linear.default", torch.zeros(2, 2, 8), weight(5, 8), Data(torch.ones(5))),
            call("linear.default", torch.zeros(2, 1, 8), weight(5, 8)),
            call("linear.default", torch.zeros(2, 1, 8), weight(5, 8), torch.zeros(5)),
            call(
                "linear.default",
                torch.zeros(2, 1, 8),
                weight(5, 8, dtype=torch.int16),
                Data(torch.ones(5)),
            ),
            call("linear.default", torch.zeros(8), weight(5, 8), Data(torch.ones(5))),
            call("linear.default", ROW, Data(torch.ones(5, 8)), Data(torch.ones(5))),
            call("linear.default", ROW, torch.zeros(5, 8), Data(torch.ones(5))),
            call("linear.default", ROW, BY_CHANNEL, Data(torch.ones(5))),
        ],
        [call("linear.default", torch.zeros(2, 1, 8), weight(5, 8), Data(torch.ones(5)))],
    ),
]


def why_not(program: ExportedProgram, name: str) -> str:
    """Of the quantize behind the call, else of the call."""
    reasons = TablePass(table.TABLE, program).why_not(program.graph_module)
    found = {op_name(node): reason for node, reason in reasons.items() if not is_quantize(node)}
    for node, reason in reasons.items():
        value = node.args[0] if is_quantize(node) else node
        if is_quantize(node):
            found[op_name(value) or op_name(value.args[0])] = reason
    return found.get(name, "")


@pytest.mark.parametrize("part", range(2))
def test_each_condition_has_calls_on_both_sides(part: int) -> None:
    assert [text for case in CASES[part::2] for text in case.disagreements(why_not)] == []


def test_no_condition_is_without_a_case() -> None:
    rows = [*table.TABLE.rows_of_patterns.values(), *table.TABLE.values()]
    kinds = [case.reason for case in CASES if isinstance(case.reason, str)]
    missing = without_case([each for row in rows for each in row.conditions], CASES)
    # limits stand behind a call; another scale is a call between two quantizes
    between = "contiguous int8, uint8 or int16 on both sides, in the whole range, are expected"
    left = {each for each in missing if not any(each.startswith(kind) for kind in kinds)}
    assert left == {table.LIMITS.reason, between}


LIMITED = [  # (least, largest) of what is stored by a scale of 0.05 and a zero point of -128, 0 to 12.75
    ((0, None), True),
    ((None, 12.75), True),
    ((0.04, None), False),
    # half a quantum is 0.025
    ((0.025, None), True),
    ((0.02512, None), False),
    ((None, 12.7252), True),
    ((None, 12.7248), False),
    ((None, 12.7), False),
    ((-1, 20), True),
]


@pytest.mark.parametrize(("limits", "is_taken"), LIMITED)
def test_limits_that_stored_values_cannot_pass(
    limits: tuple[float | None, float | None], is_taken: bool
) -> None:
    of = torch.ops.quantized_decomposed
    operand, result = OPERAND, (0.05, -128, -128, 127, torch.int8)

    class Sum(torch.nn.Module):
        def forward(self, x: Tensor) -> Tensor:
            value = of.dequantize_per_tensor(of.quantize_per_tensor(x, *operand), *operand)
            return of.quantize_per_tensor((value + value).clamp(*limits), *result)

    program = to_edge(torch.export.export(Sum(), (X,))).exported_program()
    reasons = list(TablePass(table.TABLE, program).why_not(program.graph_module).values())
    assert reasons == ([] if is_taken else [table.LIMITS.reason])
