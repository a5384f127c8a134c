# SPDX-License-Identifier: BSD-3-Clause
"""Both sides of every condition: calls that are not delegated for its reason, and calls beside them, at the limit, that
are."""

from __future__ import annotations

from typing import Any

import pytest
import torch
from torch.nn import functional as F

from executorch.backends.test.conformance.condition_cases import (
    Case,
    among,
    claimed_by,
    without_case,
)
from executorch.backends.test.conformance.single_call import Call
from executorch.backends.test.corpus.row import numbers
from executorch.backends.vulkan.aot import aten_rows
from executorch.backends.vulkan.aot.ops import TABLE
from executorch.backends.vulkan.partitioner.vulkan_partitioner import VulkanPartitioner

X, IMAGE, GRID = numbers(4, 5, 6), numbers(2, 3, 8, 8), numbers(2, 4, 5, 2).tanh()
WHOLE, MASK, LONG, BYTES = X.round().int(), X > 0, X.round().long(), X.round().char()
PLACES = torch.tensor([1, 0])
q = torch.ops.quantized_decomposed
CONVERT = "dim_order_ops._to_dim_order_copy.default"
QUANTIZE, DEQUANTIZE = (f"quantized_decomposed.{name}_per_tensor.default" for name in ("quantize",
 "dequantize"))  # fmt: skip


def call(name: str, *args: Any, **kwargs: Any) -> Call:
    return Call(name if name.count(".") > 1 else f"aten.{name}", args, kwargs)


def own(name: str, place: int) -> Any:
    """A condition of a row."""
    return TABLE[name if name.count(".") > 1 else f"aten.{name}"].conditions[place]


def tensors() -> list[Case]:
    number, dtype, whole, sizes = TABLE.of_tensors
    eight, nine = torch.zeros([2] * 8), torch.zeros([2] * 9)
    fits, far = 2**31, 2**31 - 1
    return [
        Case(number.reason, [among("mul.Scalar", lambda x: torch.ops.aten.mul.Scalar(x, x.sum().item()), X)]),
        Case(dtype.reason, [call("exp.default", X.bfloat16()), call("abs.default", WHOLE.short())],
             [call("exp.default", X.half()), call("logical_not.default", MASK)]),
        Case(sizes.reason, [call("exp.default", nine), call("exp.default", X[:, :0])],
             [call("exp.default", eight), call("exp.default", torch.tensor(1.0))]),
        # What is given as places or read as such, also through what is moved, added or multiplied.
        Case(whole.reason,
             [call("add.Tensor", LONG, LONG), call("permute_copy.default", LONG, [2, 0, 1]),
              call("full.default", [2], fits, dtype=torch.int64),
              call("full.default", [2], -fits - 1, dtype=torch.int64), call("cat.default", [LONG, LONG]),
              among("add.Tensor", lambda x: x.argmax(1) + 1, X),
              among("add.Tensor", lambda x: x.argmax(1) + x.argmin(1), X),
              among("minimum.default", lambda x: torch.minimum(x.argmax(1), x.argmin(1)), X),
              among("view_copy.default", lambda i, x: x[:, i.view(2, 1)], PLACES, X),
              among("permute_copy.default", lambda i: (i.permute(1, 0), i + 1), LONG[0]),
              among("cat.default", lambda i, j: torch.cat([i.long(), j]), WHOLE, LONG),
              among("mul.Tensor", lambda i, x: (x.index_select(0, i * 2), i * 2)[1], PLACES, X)],
             [call("argmax.default", X, 1), call("arange.start_step", 0, 9),
              call("full.default", [2], far, dtype=torch.int64),
              call("full.default", [2], -fits, dtype=torch.int64),
              among("unsqueeze_copy.default", lambda x: x.argmax(1).unsqueeze(0), X),
              among("mul.Tensor", lambda i, x: x.index_select(0, i * 2), PLACES, X),
              among("add.Tensor", lambda i, x: x.index_select(0, i.view(2) + 1), PLACES, X),
              among("split_with_sizes_copy.default", lambda i, x: x.index_select(0, i.split([1, 1])[0]), PLACES, X),
              among("cat.default", lambda i, x: torch.cat([i.long(), x[0, 0].argmax(0)[None]]), PLACES.int(), X),
              among(CONVERT, lambda i: i.long(), WHOLE), among(CONVERT, lambda m: m.long(), MASK)]),
    ]  # fmt: skip


def dtypes() -> list[Case]:
    return [
        Case(own("cos.default", 0), [call("cos.default", WHOLE)], [call("cos.default", X.half())]),
        Case(own("eq.Tensor", 0), [call("eq.Tensor", BYTES, BYTES)], [call("eq.Tensor", WHOLE, WHOLE)]),
        Case(own("logical_and.default", 0), [call("logical_and.default", X, MASK)],
             [call("logical_and.default", MASK, MASK)]),
        Case(own("where.self", 0), [call("where.self", MASK, WHOLE, WHOLE)], [call("where.self", MASK, X, X)]),
        Case(own("permute_copy.default", 0), [call("permute_copy.default", BYTES, [2, 0, 1])],
             [call("permute_copy.default", MASK, [2, 0, 1])]),
        Case(own("embedding.default", 0), [call("embedding.default", WHOLE[0], PLACES)],
             [call("embedding.default", X[0], PLACES), call("embedding.default", X[0], PLACES.int())]),
        Case(own("index.Tensor", 0), [call("index.Tensor", MASK, [PLACES])], [call("index.Tensor", WHOLE, [PLACES])]),
        Case(own("gather.default", 0), [call("gather.default", BYTES, 1, LONG * 0)],
             [call("gather.default", MASK, 1, LONG * 0)]),
        Case(own(DEQUANTIZE, 0), [call(DEQUANTIZE, BYTES.byte(), 0.1, 3, -128, 127, torch.uint8)],
             [call(DEQUANTIZE, BYTES, 0.1, 3, -128, 127, torch.int8)]),
        Case(own(QUANTIZE, 1), [call(QUANTIZE, X, 0.1, 3, 0, 255, torch.uint8)],
             [call(QUANTIZE, X, 0.1, 3, -128, 127, torch.int8)]),
        Case(own(CONVERT, 2), [], [among(CONVERT, lambda x: x.half(), X)]),
        Case(own("div.Tensor", 1), [], [call("div.Tensor", X, X)]),
        Case(own("add.Scalar", 1), [], [call("add.Scalar", WHOLE, 2), call("add.Scalar", X, 2.5)]),
        Case(own("max_pool2d_with_indices.default", 1), [],
             [among("max_pool2d_with_indices.default", lambda x: F.max_pool2d(x, 2, return_indices=True), IMAGE)]),
    ]  # fmt: skip


def calls() -> list[Case]:
    grid, norm, index = (
        "grid_sampler_2d.default",
        "_native_batch_norm_legit_no_training.default",
        "index.Tensor",
    )
    one, flat = [torch.ones(4)] * 4, X[:, 0]
    pools = "avg_pool2d.default"
    return [
        Case(own(QUANTIZE, 2), [call(QUANTIZE, X, 0.1, 3, -127, 127, torch.int8),
             call(QUANTIZE, X, 0.1, 3, -128, 126, torch.int8)],
             [call(QUANTIZE, X, 0.1, 3, -128, 127, torch.int8)]),
        Case(own(CONVERT, 2), [among(CONVERT, lambda x: x.to(torch.bool), X)],
             [among(CONVERT, lambda m: m.float(), MASK), among(CONVERT, lambda i: i.float(), WHOLE)]),
        Case(aten_rows.KEPT_DTYPE, [call("sum.dim_IntList", X.half(), [1], dtype=torch.float32)],
             [call("sum.dim_IntList", X, [1], dtype=torch.float32), call("mean.dim", X.half(), [1])]),
        Case(own(grid, 2), [call(grid, IMAGE, GRID, 1, 1, True), call(grid, IMAGE, GRID, 0, 0, True),
             call(grid, IMAGE, GRID, 0, 1, False)],
             [call(grid, IMAGE, GRID, 0, 1, True)]),
        Case(own(index, 2), [call(index, X, [PLACES, PLACES]), call(index, X, [PLACES[:, None]])],
             [call(index, X, [None, PLACES]), call(index, X[0, 0], [PLACES[:, None]]), call(index, X[0, 0], [PLACES])]),
        Case(aten_rows.DIMS_OF_IMAGES, [], [call(pools, IMAGE, [2, 2]), call(pools, IMAGE[0], [2, 2])]),
        Case(own(norm, 2), [],
             [call(norm, flat.mT.contiguous()[:, :4], *one, 0.1, 1e-5),
              call(norm, X.mT.contiguous()[..., :4].mT.contiguous(), *one, 0.1, 1e-5)]),
        Case(own("div.Tensor_mode", 2), [],
             [call("div.Tensor_mode", X, X, rounding_mode=each) for each in ("trunc", "floor")]),
    ]  # fmt: skip


def convolutions() -> list[Case]:
    images = own("convolution.default", 2)

    def conv(dims: int, turned: bool = False) -> Call:
        x, w, many = (
            numbers(1, 2, *[5] * dims),
            numbers(2, 2, *[3] * dims),
            ([1] * dims, [0] * dims),
        )
        return call("convolution.default", x, w, None, *many, [1] * dims, turned, [0] * dims, 1)

    return [
        Case(images, [conv(1, True), conv(3), conv(3, True)], [conv(1), conv(2), conv(2, True)])
    ]


GROUPS = (tensors, dtypes, calls, convolutions)


@pytest.mark.parametrize("group", GROUPS, ids=lambda group: group.__name__)
def test_calls_on_both_sides(group: Any) -> None:
    why_not = claimed_by(VulkanPartitioner())
    assert [text for case in group() for text in case.disagreements(why_not)] == []


def test_every_condition_has_calls_on_both_sides() -> None:
    """But those of dtypes, of which `dtypes` has examples, and of attention, which its own tests have."""
    rows = {
        name: row
        for name, row in TABLE.items()
        if not name.startswith(("llama.", "aten._local_scalar"))
    }
    known = {each.reason: each for row in rows.values() for each in row.conditions[2:]}.values()
    assert without_case(known, [case for group in GROUPS for case in group()]) == set()
