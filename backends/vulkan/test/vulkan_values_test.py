# SPDX-License-Identifier: BSD-3-Clause
"""Numbers of payloads beside eager PyTorch: on a device where there is one, else by the reference; in float32 and in
halves."""

from __future__ import annotations

import pytest
import torch
from torch import nn

from executorch.backends.test.conformance.backend import Backend
from executorch.backends.test.conformance.calls import ATTENTION, calls, extremes
from executorch.backends.test.conformance.corpus_values import (
    bad_rows,
    beside_whole,
    chunks,
    taken_by,
)
from executorch.backends.test.corpus import NETWORKS, rows, sample
from executorch.backends.test.corpus.row import Row, numbers, row
from executorch.backends.vulkan.aot.ops import TABLE
from executorch.backends.vulkan.test.conformance import by_reference, on_device
from executorch.runtime import Runtime

HAS_DEVICE = Runtime.get().backend_registry.is_available("VulkanBackend")
PRECISIONS = pytest.mark.parametrize("force_fp16", [False, True], ids=["floats", "halves"])


def made_for(force_fp16: bool) -> Backend:
    return on_device(force_fp16) if HAS_DEVICE else by_reference(force_fp16)


X = numbers(3, 4, 5)
OWN = (
    row("any of all", lambda x: torch.any(x > 2, dim=(0, 1)), X),
    row("limits of a convolution", nn.Sequential(nn.Conv2d(3, 4, 3), nn.ReLU6()), numbers(1, 3, 6, 6)),
    row("a norm of matrices", nn.RMSNorm((4, 5)), X),
    row("hardshrink", torch.ops.aten.hardshrink.default, X),
    row("halves rounded", torch.round, torch.arange(-3.5, 4)),
)  # fmt: skip
CALLS = (*OWN, *calls(), *extremes())
# What stays outside by its condition, or has no row.
LEFT = {
    "compare with a number": {"aten.sign.default": 1},
    "numbers of two dtypes": {"aten.eq.Scalar": 1},
    "bool and numbers": {"aten.mul.Tensor": 1},
    "integers": {"aten.mul.Tensor": 1, "aten.sub.Tensor": 1, "aten.bitwise_and.Scalar": 1,
        "aten.bitwise_or.Scalar": 1, "aten.bitwise_xor.Scalar": 1, "aten.bitwise_not.default": 1,
        "aten.neg.default": 1, "aten.remainder.Scalar": 1, "aten.fmod.Scalar": 1},
    "integers divided": {"aten.div.Tensor": 1},
    "integers with floats": {"aten.add.Tensor": 1},
    "functions of integers": {"aten.sqrt.default": 1, "aten.sigmoid.default": 1},
    "rounded divisions": {"aten.fmod.Scalar": 1, "aten.fmod.Tensor": 1},
    "to bool": {"dim_order_ops._to_dim_order_copy.default": 3},
    "functions": {"aten.exp2.default": 1, "aten.erf.default": 1, "aten.tan.default": 1, "aten.sinh.default": 1,
        "aten.cosh.default": 1, "aten.atan.default": 1, "aten.asinh.default": 1, "aten.floor.default": 1,
        "aten.ceil.default": 1},
    "functions of what is above 0": {"aten.log.default": 1, "aten.log2.default": 1, "aten.log10.default": 1,
        "aten.reciprocal.default": 1},
    "functions of fractions": {"aten.asin.default": 1, "aten.acos.default": 1, "aten.atanh.default": 1,
        "aten.acosh.default": 1},
    "powers": {"aten.sign.default": 1, "aten.reciprocal.default": 1},
    "comparisons": {"aten.ne.Tensor": 1},
    "tests": {"aten.reciprocal.default": 1, "aten.isinf.default": 1, "aten.isnan.default": 1},
    "bits": {"aten.add.Tensor": 1, "aten.bitwise_and.Tensor": 1, "aten.bitwise_or.Tensor": 1,
        "aten.bitwise_xor.Tensor": 1},
    "two of one size": {"aten.remainder.Tensor": 1},
    "transposed rows": {"aten.convolution.default": 1},
    "index of two dimensions": {"aten.view_copy.default": 1, "aten.index.Tensor": 1},
    "put": {"aten.index_put.default": 2},
    "put values of fewer dimensions": {"aten.index_put.default": 1},
    "scatter a slice": {"aten.slice_scatter.default": 2},
    "cat of dtypes": {"dim_order_ops._to_dim_order_copy.default": 1, "aten.cat.default": 1},
    "made of numbers": {"dim_order_ops._to_dim_order_copy.default": 1, "aten.add.Tensor": 1},
    "sums and extrema": {"aten.prod.dim_int": 1},
    "largest": {"aten.max.dim": 1, "aten.min.dim": 1, "aten.topk.default": 1},
    "logic": {"aten.logical_xor.default": 1, "aten.bitwise_xor.Tensor": 1},
    "activations": {"aten.elu.default": 1},
    "triangles": {"aten.cumsum.default": 1},
    "pools": {"aten._adaptive_avg_pool2d.default": 1},
    "one over": {"aten.reciprocal.default": 1},
    "logarithms": {"aten.log.default": 1, "aten.log2.default": 1, "aten.log10.default": 1, "aten.log1p.default": 1},
    "log1p and expm1": {"aten.log1p.default": 1, "aten.expm1.default": 1},
    "logsigmoid": {"aten.log1p.default": 1},
    "softplus": {"aten.log1p.default": 4},
    "logit": {"aten.log.default": 2},
    "angles": {"aten.atan2.default": 1},
    "cosine of small ones": {"aten.clamp.Tensor": 2},
    "variances": {"aten.var.correction": 4},
    "log of a sum by hand": {"aten.log.default": 1},
}  # fmt: skip


@PRECISIONS
@pytest.mark.parametrize("chosen", chunks(CALLS), ids=lambda chosen: chosen[0].name)
def test_each_call_is_taken_and_right(chosen: list[Row], force_fp16: bool) -> None:
    left = {row.name: LEFT[row.name] for row in chosen if row.name in LEFT}
    assert beside_whole(chosen, made_for(force_fp16), ATTENTION) == left


# Others than by calls of floats: quantized and fused ones, sizes, positions, and what PyTorch or to_edge writes
# otherwise today.
WITHOUT_A_CALL = {f"aten.{name}" for name in (
    "_local_scalar_dense.default", "_to_copy.default", "_weight_int8pack_mm.default", "alias_copy.default",
    "clone.default", "div.Scalar", "hardshrink.default", "max_pool2d.default", "mul.Scalar", "ones.default",
    "ones_like.default", "permute.default", "scalar_tensor.default", "sub.Scalar", "sym_size.int",
    "t_copy.default", "zeros.default", "zeros_like.default",
)}  # fmt: skip


def test_every_row_has_a_call() -> None:
    taken = {name for row in CALLS for name in taken_by(by_reference(), row)}
    missing = {name for name in set(TABLE) - taken if name.startswith("aten.")}
    assert missing == WITHOUT_A_CALL


@PRECISIONS
@pytest.mark.parametrize("chosen", chunks(sample(), 4), ids=lambda chosen: chosen[0].family)
def test_a_row_of_each_family_is_right(chosen: list[Row], force_fp16: bool) -> None:
    assert bad_rows(chosen, by_reference(force_fp16)) == {}


@pytest.mark.full
@pytest.mark.parametrize("is_network", [False, True])
@PRECISIONS
def test_the_corpus_is_right(force_fp16: bool, is_network: bool) -> None:
    chosen = [row for row in rows() if (row.family in NETWORKS) == is_network]
    assert bad_rows(chosen, by_reference(force_fp16)) == {}
