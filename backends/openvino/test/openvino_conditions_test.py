# SPDX-License-Identifier: BSD-3-Clause
"""Every condition of the table: a call that stays outside for that reason alone, and is exact there."""

from __future__ import annotations

import pytest
import torch
from torch.nn.functional import avg_pool2d, interpolate, pad

from executorch.backends.openvino.aot.ops import TABLE
from executorch.backends.openvino.partitioner import OpenvinoPartitioner
from executorch.backends.openvino.test.lowered import needs_compiler
from executorch.backends.test.conformance.conditions import (
    Outside,
    check_outside,
    outside,
    unwalked,
)
from executorch.backends.test.corpus.row import numbers

pytestmark = [needs_compiler]
FLOATS, NUMBERS = "float32 or float16", "float32, float16 or int32"
MOVED, BYTES = "float32, float16, int32, int8, uint8 or bool", "int8, uint8 or bool"
X, IMAGE = numbers(3, 4, 6), numbers(1, 2, 9, 12)
WHOLE, MASK, WIDE = X.round().int(), X > 0, X.round().long()
q = torch.ops.quantized_decomposed
U8 = (0.0322, 127, 0, 255, torch.uint8)
QUANTIZE = "quantized_decomposed.quantize_per_tensor.default"
DEQUANTIZE = "quantized_decomposed.dequantize_per_tensor.default"


def rounded(x: torch.Tensor) -> torch.Tensor:
    return q.dequantize_per_tensor.default(q.quantize_per_tensor.default(x, *U8), *U8)


CASES = [
    # Of each tensor.
    outside("exp.default", f"dtype {MOVED.replace(' or', ',')} or int64 is expected, found float64 [3, 4, 6]",
            torch.exp, X.double()),
    outside("exp.default", "1 to 8 dimensions with elements, or none, are expected, found float32 [0, 4, 6]",
            torch.exp, X[:0]),
    # Of operands.
    outside("isnan.default", f"operands of dtype {FLOATS} are expected", torch.isnan, WHOLE),
    outside("abs.default", f"operands of dtype {NUMBERS} are expected", torch.abs, WIDE, is_alone=False),
    outside("eq.Tensor", "operands of dtype int32 are expected", torch.eq, X, X),
    outside("logical_and.default", "operands of dtype bool are expected", torch.logical_and, X, X),
    outside("permute_copy.default", f"operands of dtype {MOVED} are expected",
            lambda i: torch.ops.aten.permute_copy.default(i, [2, 0, 1]), WIDE, is_alone=False),
    outside("bitwise_and.Scalar", "operands of dtype a constant are expected", lambda i: i & 3, WHOLE, is_alone=False),
    outside(DEQUANTIZE, f"operands of dtype {BYTES} are expected",
            lambda i: q.dequantize_per_tensor.default(i, 0.1, 3, -100, 100, torch.int32), WHOLE, is_alone=False),
    # Of results.
    outside("dim_order_ops._to_dim_order_copy.default", f"a result of dtype {NUMBERS} is expected",
            lambda x: x.to(torch.bool), X),
    outside(QUANTIZE, f"a result of dtype {BYTES} is expected",
            lambda x: q.quantize_per_tensor.default(x, 0.1, 3, -100, 100, torch.int32), X, is_alone=False),
    # Of what calls say.
    outside("add.Tensor", "operands and result of one dtype are expected", lambda x, i: x + i, X, WHOLE),
    outside("sum.dim_IntList", "a reduction of the second of three dimensions without arithmetic behind it is expected",
            lambda x: x.sum(1) * 2, X),
    outside("full.default", "numbers of 32 bits are expected, known ahead",
            lambda x: (x.atan(), torch.full((4,), 2**40)), X),
    outside("upsample_bilinear2d.vec", "a result of more than one row and column is expected",
            lambda x: interpolate(x, (1, 4), mode="bilinear"), IMAGE),
    outside("log1p.default", "an exponential is expected, not what may be small", torch.log1p, X.abs() * 1e-6),
    outside("index.Tensor", "one tensor of indices is expected", lambda x, i: x[i, i], X, torch.tensor([1, 0])),
    outside("avg_pool2d.default", "windows that end inside of the padding are expected where padding counts",
            lambda x: avg_pool2d(x, 3, 2, 1, True), IMAGE),
    outside("avg_pool2d.default", "padding of quantized values that counts would not be zero",
            lambda x: avg_pool2d(rounded(x), 3, 2, 1), IMAGE[..., :9].abs() + 1),
    outside("constant_pad_nd.default", "padding of quantized values would not be the value that is asked for",
            lambda x: pad(rounded(x), (1, 1)), X),
    outside(QUANTIZE, "a quantize whose result is dequantized alone, with the same parameters, is expected",
            lambda x: q.quantize_per_tensor.default(x, *U8), X),
    outside(DEQUANTIZE, "a quantized zero would be a tiny number, which the operator behind it makes large",
            lambda x: torch.sqrt(rounded(x)), X.abs()),
]  # fmt: skip
# No program has such calls today: what gives another dtype reads one, and numbers beside tensors are constants.
UNSEEN = {
    "operands of dtype float32 are expected",
    "a result of dtype float32 is expected",
    "a result of dtype a constant is expected",
    "a result of dtype bool is expected",
    "a result of dtype int64 is expected",
    f"a result of dtype {FLOATS} is expected",
    f"a result of dtype {MOVED} is expected",
    f"a result of dtype {MOVED.replace(' or', ',')} or int64 is expected",
    f"operands of dtype {MOVED.replace(' or', ',')} or int64 are expected",
}


@pytest.mark.parametrize("case", CASES, ids=lambda case: case.name)
def test_a_call_stays_outside_and_is_exact(case: Outside) -> None:
    check_outside(case, OpenvinoPartitioner([]))


def test_every_condition_has_a_case() -> None:
    missing, gone = unwalked(TABLE, CASES)
    assert missing == UNSEEN
    assert all(any(reason.startswith(each.reason) for each in TABLE.of_tensors) for reason in gone)
