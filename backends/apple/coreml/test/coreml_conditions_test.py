# SPDX-License-Identifier: BSD-3-Clause
"""Every condition of the table: a call that stays outside for that reason alone, and is exact there."""

from __future__ import annotations

from typing import Any

import pytest
import torch

pytest.importorskip("coremltools")

import torchao  # noqa: F401  defines its operators

from executorch.backends.apple.coreml.aot.ops import REFUSED, TABLE
from executorch.backends.apple.coreml.partition import CoreMLPartitioner
from executorch.backends.test.conformance.conditions import (
    Outside,
    check_outside,
    outside,
    unwalked,
)
from executorch.backends.test.corpus.row import numbers
from executorch.exir.backend.lowering.constants import Constants
from executorch.exir.graph_facts import called_op

X, Y, IMAGE = numbers(3, 4), numbers(3, 4) + 1, numbers(2, 3, 4, 4)
ALPHA, DIMENSION = "alpha of 1 is expected", "a dimension is expected"
DTYPES = "float32, float16, int32, int64, int16, int8, uint8, bool"
ops = torch.ops.aten

CASES = [
    outside("exp.default", f"dtype {DTYPES} is expected, found float64 [3, 4]", torch.exp, X.double()),
    outside("exp.default", "at most 5 dimensions are expected, found float32 [1, 1, 1, 1, 3, 4]",
            torch.exp, X[None, None, None, None]),
    outside("add.Tensor", ALPHA, lambda x, y: torch.add(x, y, alpha=3), X, Y),
    outside("sub.Tensor", ALPHA, lambda x, y: torch.sub(x, y, alpha=3), X, Y),
    outside("argmax.default", DIMENSION, torch.argmax, X),
    outside("argmin.default", DIMENSION, torch.argmin, X),
    outside("dim_order_ops._clone_dim_order.default", "contiguous memory is expected",
            lambda x: x.clone(memory_format=torch.channels_last), IMAGE),
    outside("dim_order_ops._to_dim_order_copy.default", "contiguous memory is expected",
            lambda x: x.to(torch.float16, memory_format=torch.channels_last), IMAGE),
]  # fmt: skip
# Of operators that PyTorch decomposes where they are not taken: a call as the partitioner is asked about it.
ASKED = [
    ("statistics of the input itself are expected",
     lambda x: ops.instance_norm.default(x, None, None, X[:, 0], X[:, 0].abs(), False, 0.1, 1e-5, False), IMAGE),
    ("two dimensions or more are expected", lambda x: ops.matmul.default(x, x[0]), X),
    (ALPHA, lambda x: ops.rsub.Tensor(x, x + 1, alpha=3), X),
    (ALPHA, lambda x: ops.rsub.Scalar(x, 2.0, 3), X),
]  # fmt: skip


@pytest.mark.parametrize("case", CASES, ids=lambda case: case.name)
def test_a_call_stays_outside_and_is_exact(case: Outside) -> None:
    check_outside(case, CoreMLPartitioner())


class Call(torch.nn.Module):
    def __init__(self, function: Any) -> None:
        super().__init__()
        self.function = function

    def forward(self, x: torch.Tensor) -> Any:
        return self.function(x)


def asked(function: Any, *inputs: torch.Tensor) -> dict[str, str]:
    """Of the calls of a captured program, by operator, why they are not taken whole."""
    program = torch.export.export(Call(function), inputs)
    calls = [node for node in program.graph.nodes if str(called_op(node)) in TABLE]
    return {str(called_op(node)): TABLE.why_not(node, {}) for node in calls}


@pytest.mark.parametrize(("reason", "function", "x"), ASKED, ids=[each[0] for each in ASKED])
def test_a_call_is_not_taken_whole(reason: str, function: Any, x: torch.Tensor) -> None:
    assert reason in asked(function, x).values()


WEIGHTS = torch.randint(-8, 8, (4, 8), dtype=torch.int8)


def affine(weights: Any, block: list[int], low: int = -8, high: int = 7) -> Any:
    rows, columns = weights.shape[-2] // block[0], weights.shape[-1] // block[1]
    scale = torch.ones(rows, columns)
    return lambda x: torch.ops.torchao.dequantize_affine.default(
        weights if x is None else x, block, scale, None, torch.int8, low, high
    )


BY_ROW, BY_PAIR, NARROW = (
    affine(WEIGHTS, [1, 4]),
    affine(WEIGHTS, [2, 4]),
    affine(WEIGHTS, [1, 4], -4, 3),
)
STORED = [
    ("weights that the program has are expected", BY_ROW, WEIGHTS),
    ("groups of equal size along rows are expected", lambda x: BY_PAIR(None) + x, X[:1, :1]),
    ("values of -8 to 7 or of -128 to 127 are expected", lambda x: NARROW(None) + x, X[:1, :1]),
]  # fmt: skip


@pytest.mark.parametrize(("reason", "function", "x"), STORED, ids=[each[0] for each in STORED])
def test_weights_that_are_not_taken_as_they_are_stored(
    reason: str, function: Any, x: torch.Tensor
) -> None:
    program = torch.export.export(Call(function), (x,))
    (call,) = (node for node in program.graph.nodes if "dequantize_affine" in str(node.target))
    assert TABLE.why_not(call, Constants(program)) == reason


def test_every_condition_has_a_case() -> None:
    missing, gone = unwalked(TABLE, CASES)
    walked = {reason for reason, *_ in (*ASKED, *STORED)}
    assert missing - walked == {  # of torchao's tables, whose writer makes no others
        "a matrix is expected",
        "tables of numbers, for rows or for columns, are expected",
    }
    assert all(any(reason.startswith(each.reason) for each in TABLE.of_tensors) for reason in gone)


@pytest.mark.parametrize("name", sorted(REFUSED))
def test_what_the_frontend_computes_otherwise_is_no_row(name: str) -> None:
    assert name not in TABLE
