# SPDX-License-Identifier: BSD-3-Clause
"""Both sides of every condition: calls that are not delegated for its reason, and calls beside them, at the limit, that
are."""

from __future__ import annotations

from typing import Any

import pytest
import torch
from torch.export import Dim
from torch.nn import functional as F

from executorch.backends.apple.mps.aot import computing, elementwise, indexing, movement, ops
from executorch.backends.apple.mps.test.conformance import partitioner
from executorch.backends.test.conformance.condition_cases import (
    Case,
    among,
    claimed_by,
    without_case,
)
from executorch.backends.test.conformance.single_call import Call
from executorch.backends.test.corpus.row import numbers
from executorch.exir.backend.lowering.op_table import Condition

pytestmark = pytest.mark.filterwarnings("ignore:The MPS:FutureWarning")
X, IMAGE, ROWS = numbers(4, 5, 6), numbers(1, 3, 8, 8), torch.tensor([0, 1])
LONG, MASK = X.long(), X > 0
LARGE = 2**24 + 1  # which float32 does not hold
POOL = "max_pool2d_with_indices.default"


def call(name: str, *args: Any, **kwargs: Any) -> Call:
    return Call(f"aten.{name}", args, kwargs)


def tensors() -> list[Case]:
    number, kind, sizes, elements, order = ops.TABLE.of_tensors
    last = IMAGE.contiguous(memory_format=torch.channels_last)
    one = torch.zeros(1, 3, 1, 1).contiguous(memory_format=torch.channels_last)
    rows = (({0: Dim("rows", min=2, max=9)},),)
    return [
        Case(number.reason, [among("mul.Scalar", lambda x: torch.ops.aten.mul.Scalar(x, x.sum().item()), X)]),
        Case(kind.reason, [call("abs.default", X.double())],
             [call("abs.default", each.to(dtype)) for each in (X,) for dtype in ops.ALL - {torch.bool}]),
        Case(sizes.reason, [among("exp.default", torch.exp, X, dynamic_shapes=rows)], [call("exp.default", X)]),
        Case(elements.reason, [call("exp.default", X[:0]), call("exp.default", X[:, :, :0])],
             [call("exp.default", torch.tensor(1.0))]),
        Case(order.reason, [call("exp.default", last), call("exp.default", X.mT)],
             [call("exp.default", one), call("exp.default", X[..., ::2]), call("exp.default", IMAGE)]),
    ]  # fmt: skip


def given(name: str, place: int = 0) -> Condition:
    """One of a row's own."""
    return ops.TABLE[f"aten.{name}"].conditions[place]


def dtypes() -> list[Case]:
    none: list[Any] = []
    return [
        Case(given("exp.default"), none, [call("exp.default", LONG)]),
        Case(given("add.Tensor"), [call("add.Tensor", MASK, MASK)], [call("add.Tensor", LONG, LONG.byte())]),
        Case(given("bitwise_and.Tensor"), none,
             [call("bitwise_and.Tensor", MASK, MASK), call("bitwise_and.Tensor", LONG, LONG)]),
        Case(given("eq.Tensor"), none, [call("eq.Tensor", X, LONG), call("eq.Scalar", MASK, 1)]),
        Case(given("mul.Tensor"), none, [call("mul.Tensor", MASK, MASK), call("mul.Tensor", LONG, X)]),
        Case(given("floor_divide.default"), [call("floor_divide.default", LONG, LONG)],
             [call("floor_divide.default", X, LONG)]),
        Case(given("isnan.default", 1), [call("isnan.default", LONG)],
             [call("isnan.default", X), call("isnan.default", X.half())]),
        Case(given("logical_not.default", 1), [call("logical_not.default", X)], [call("logical_not.default", MASK)]),
    ]  # fmt: skip


def calls() -> list[Case]:
    half = elementwise.KEPT_HALF
    pools, average = IMAGE[0], "avg_pool2d.default"
    return [
        Case(elementwise.EXACT_ALPHA, [call("add.Tensor", LONG, LONG, alpha=LARGE)],
             [call("add.Tensor", LONG, LONG, alpha=LARGE - 1), call("sub.Tensor", X, X, alpha=0.1)]),
        Case(half, [call("_softmax.default", X.half(), 1, True)], [call("_softmax.default", X.half(), 1, False)]),
        Case(elementwise.FAR_BELOW, [call("_log_softmax.default", X, 1, False)]),
        Case(computing.IMAGES, [call(average, pools, [2, 2]), call(POOL, pools, [2, 2])],
             [call(average, IMAGE, [2, 2]), call(POOL, IMAGE, [2, 2])]),
        Case(computing.FIRST, [among(POOL, lambda x: F.max_pool2d(x, 2, return_indices=True), IMAGE)],
             [among(POOL, lambda x: F.max_pool2d(x, 2), IMAGE)]),
        Case(computing.HAS_DIMENSIONS, [call("mean.dim", torch.tensor(2.0), [])], [call("mean.dim", X[0, 0], [0])]),
        Case(movement.GROWS, [call("constant_pad_nd.default", X, [-1, 1]), call("constant_pad_nd.default", X, [1, -1])],
             [call("constant_pad_nd.default", X, [0, 1]), call("constant_pad_nd.default", X, [])]),
        Case(given("constant_pad_nd.default", 2), [call("constant_pad_nd.default", LONG, [1, 0], LARGE),
                                                   call("arange.start_step", 0, LARGE, 2**23),
                                                   call("scalar_tensor.default", LARGE, dtype=torch.int64)],
             [call("constant_pad_nd.default", LONG, [1, 0], LARGE - 1), call("constant_pad_nd.default", X, [1, 0], 0.1),
              call("full.default", [2], 0.1), call("arange.start_step", 0, 8, 2)]),
        Case(indexing.OF_INTS, [call("index_put.default", X, [X[:, 0, 0] > 0], X[0])],
             [call("index.Tensor", X, [ROWS.int()])]),
        Case(indexing.OVERWRITES, [call("index_put.default", X, [ROWS], X[:2], True)],
             [call("index_put.default", X, [ROWS], X[:2])]),
        Case(indexing.ONE_INDEX, [call("index.Tensor", X, [ROWS, ROWS])],
             [call("index.Tensor", X, [None, ROWS]), call("index.Tensor", X, [ROWS[:, None]])]),
        Case(indexing.PUTS_LISTS, [call("index_put.default", X, [ROWS[:, None]], X[:2, None])],
             [call("index_put.default", X, [None, ROWS], X[:, :2])]),
        Case(indexing.IS_LIST, [call("index_select.default", X, 0, ROWS[0])],
             [call("index_select.default", X, 0, ROWS)]),
    ]  # fmt: skip


def convolutions() -> list[Case]:
    _, images, known = ops.TABLE["aten.convolution.default"].conditions

    def conv(dims: int, transposed: bool = False) -> Call:
        x, w = numbers(1, 2, *[5] * dims), numbers(2, 2, *[3] * dims)
        return call(
            "convolution.default",
            x,
            w,
            None,
            [1] * dims,
            [0] * dims,
            [1] * dims,
            transposed,
            [0] * dims,
            1,
        )

    layers = [torch.nn.ConvTranspose2d(3, 2, 2), torch.nn.Conv2d(3, 2, 2)]
    return [
        Case(images, [conv(3)], [conv(1), conv(2)]),
        Case(
            known,
            [conv(2, True), conv(1, True)],
            [among("convolution.default", each, IMAGE) for each in layers],
        ),
    ]


GROUPS = (tensors, dtypes, calls, convolutions)


@pytest.mark.parametrize("group", GROUPS, ids=lambda group: group.__name__)
def test_calls_on_both_sides(group: Any) -> None:
    assert [
        text for case in group() for text in case.disagreements(claimed_by(partitioner()))
    ] == []


def test_every_condition_has_calls_on_both_sides() -> None:
    """Those of results share their reasons by sets of dtypes."""
    known = {each.reason: each for row in ops.TABLE.values() for each in row.conditions}.values()
    missing = without_case(known, [case for group in GROUPS for case in group()])
    assert all(each.startswith("a result of dtype") for each in missing), missing
