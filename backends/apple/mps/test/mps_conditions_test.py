# SPDX-License-Identifier: BSD-3-Clause
"""Every condition of the table: a call that stays outside for that reason alone, and is exact there."""

from __future__ import annotations

import pytest
import torch
from torch.export import Dim
from torch.nn.functional import avg_pool2d, conv_transpose2d, max_pool2d, pad

from executorch.backends.apple.mps.aot.ops import TABLE
from executorch.backends.apple.mps.test.conformance import partitioner
from executorch.backends.test.conformance.conditions import (
    Outside,
    check_outside,
    outside,
    unwalked,
)
from executorch.backends.test.corpus.row import numbers

pytestmark = pytest.mark.filterwarnings("ignore:The MPS:FutureWarning")
FLOATS, NUMBERS = (
    "bfloat16, float16, float32",
    "bfloat16, float16, float32, int16, int32, int64, int8, uint8",
)
ALL = "bfloat16, bool, float16, float32, int16, int32, int64, int8, uint8"
X, IMAGE, ROWS = numbers(4, 5, 6), numbers(1, 3, 8, 8), torch.tensor([0, 1])
WHOLE = X.round().long()
FIRST, ONE_INDEX = (
    "of its results the first alone must be used",
    "one tensor of indices is expected",
)

CASES = [
    # Of each tensor.
    outside("exp.default", f"dtype {ALL} is expected, found float64 [4, 5, 6]", torch.exp, X.double()),
    outside("exp.default", "static sizes are expected, found float32 [s33, 5, 6]", torch.exp, X,
            dynamic_shapes=((({0: Dim("rows", min=2, max=9)}),),)),
    outside("exp.default", "a tensor with elements is expected, found float32 [0, 5, 6]", torch.exp, X[:0]),
    outside("exp.default", "the order of dimensions of a contiguous tensor is expected, found float32 [1, 3, 8, 8]",
            torch.exp, IMAGE.contiguous(memory_format=torch.channels_last)),
    # Of results and operands.
    outside("div.Tensor_mode", f"a result of dtype {FLOATS} is expected",
            lambda x: torch.div(x, 3, rounding_mode="floor"), WHOLE),
    outside("add.Tensor", f"a result of dtype {NUMBERS} is expected", lambda m: m + m, X > 0),
    outside("isnan.default", f"operands of dtype {FLOATS} are expected", torch.isnan, WHOLE),
    outside("logical_not.default", "operands of dtype bool are expected", torch.logical_not, X),
    # Of what calls say.
    outside("add.Tensor", "alpha must be a number that float32 holds",
            lambda i, j: torch.add(i, j, alpha=2**24 + 1), WHOLE, WHOLE),
    outside("constant_pad_nd.default", "numbers that float32 holds are expected",
            lambda i: pad(i, (1, 0), value=2**24 + 1), WHOLE),
    outside("constant_pad_nd.default", "padding that adds elements is expected", lambda x: pad(x, (-1, 1)), X),
    outside("_log_softmax.default", "the runtime takes the logarithm of softmax, which is 0 far below the largest",
            lambda x: torch.log_softmax(x, -1), torch.tensor([[0.0, -200.0]])),
    outside("mean.dim", "a tensor with dimensions is expected", lambda x: x.mean(-1), torch.tensor(2.0)),
    outside("max_pool2d_with_indices.default", "a batch of images is expected", lambda x: max_pool2d(x, 2), IMAGE[0]),
    outside("avg_pool2d.default", "a batch of images is expected", lambda x: avg_pool2d(x, 2), IMAGE[0]),
    outside("max_pool2d_with_indices.default", FIRST, lambda x: max_pool2d(x, 2, return_indices=True), IMAGE),
    outside("convolution.default", "a convolution over one or two dimensions is expected",
            torch.nn.Conv3d(1, 2, 3), X[None, None]),
    outside("convolution.default", "transposed, a constant weight is expected",
            lambda x, w: conv_transpose2d(x, w), IMAGE, numbers(3, 2, 3, 3)),
    # Of indices.
    outside("index_put.default", "indices of dtype int32 or int64 are expected",
            lambda x, m, y: torch.index_put(x, (m,), y), X, X[:, 0, 0] > 0, X[0]),
    outside("index.Tensor", ONE_INDEX, lambda x, i: x[i, i], X, ROWS),
    outside("index.Tensor", ONE_INDEX, lambda x, i: x[i, i, i], X, ROWS),
    outside("index_put.default", ONE_INDEX, lambda x, i, y: torch.index_put(x, (i, i), y), X, ROWS, X[0, :2]),
    outside("index_put.default", "a list of indices is expected",
            lambda x, i, y: torch.index_put(x, (i,), y), X, ROWS[:, None], X[:2, None]),
    outside("index_put.default", "accumulate is not expected",
            lambda x, i, y: torch.index_put(x, (i,), y, accumulate=True), X, ROWS, X[:2]),
]  # fmt: skip
# No program has such calls today: tests give booleans, softmax of halves keeps them
# on the CPU, and what has a result of another dtype has an operand of it.
UNSEEN = {
    "a result of dtype bool is expected",
    "a result of dtype bool, int16, int32, int64, int8, uint8 is expected",
    f"a result of dtype {ALL} is expected",
    "half_to_float is not expected",
}


@pytest.mark.parametrize("case", CASES, ids=lambda case: case.name)
def test_a_call_stays_outside_and_is_exact(case: Outside) -> None:
    check_outside(case, partitioner())


def test_every_condition_has_a_case() -> None:
    missing, gone = unwalked(TABLE, CASES)
    assert missing == UNSEEN
    assert all(any(reason.startswith(each.reason) for each in TABLE.of_tensors) for reason in gone)
