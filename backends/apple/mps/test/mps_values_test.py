# SPDX-License-Identifier: BSD-3-Clause
"""Numbers of payloads, by the evaluator, beside eager PyTorch."""

from __future__ import annotations

import pytest

from executorch.backends.apple.mps.aot.ops import TABLE
from executorch.backends.apple.mps.test.corpus_values import backend
from executorch.backends.test.conformance.calls import ATTENTION, calls, extremes
from executorch.backends.test.conformance.corpus_values import (
    bad_rows,
    beside_whole,
    chunks,
    taken_by,
)
from executorch.backends.test.corpus import NETWORKS, rows
from executorch.backends.test.corpus.row import Row

pytestmark = pytest.mark.filterwarnings("ignore:The MPS:FutureWarning")
SAMPLE = 40  # every so many rows in the usual tests, all in test-full
PRECISIONS = pytest.mark.parametrize("use_fp16", [False, True], ids=["floats", "halves"])


@PRECISIONS
def test_a_sample_of_the_corpus_is_right(use_fp16: bool) -> None:
    assert bad_rows(rows()[7::SAMPLE], backend(use_fp16)) == {}


@pytest.mark.full
@pytest.mark.parametrize("is_network", [False, True])
@PRECISIONS
def test_the_corpus_is_right(use_fp16: bool, is_network: bool) -> None:
    chosen = [row for row in rows() if (row.family in NETWORKS) == is_network]
    assert bad_rows(chosen, backend(use_fp16)) == {}


# What stays outside by its condition, or has no row.
LEFT = {
    "sums and extrema": {
        "aten.sum.dim_IntList": 2, "aten.amax.default": 1, "aten.amin.default": 1, "aten.prod.dim_int": 1},
    "places": {"aten.argmax.default": 1, "aten.argmin.default": 1},
    "largest": {"aten.max.dim": 1, "aten.min.dim": 1, "aten.topk.default": 1},
    "any and all": {"aten.any.default": 1, "aten.any.dim": 2},
    "logic": {
        "aten.logical_and.default": 1, "aten.logical_or.default": 1, "aten.logical_xor.default": 1},
    "activations": {"aten.elu.default": 1},
    "joined": {"aten.repeat.default": 1, "aten.flip.default": 1},
    "bilinear": {"aten.upsample_bilinear2d.vec": 2},
    "sampled": {"aten.grid_sampler_2d.default": 1},
    "norms of images": {"aten.native_group_norm.default": 1},
    "triangles": {"aten.cumsum.default": 1},
    "pools": {"aten._adaptive_avg_pool2d.default": 1},
    "gathered": {"aten.gather.default": 1},
    "logarithms": {"aten.log1p.default": 1},
    "log1p and expm1": {"aten.log1p.default": 1, "aten.expm1.default": 1},
    "log_softmax": {"aten._log_softmax.default": 2},
    "logsigmoid": {"aten.log1p.default": 1},
    "cross entropy": {"aten._log_softmax.default": 1, "aten.gather.default": 1},
    "ignored targets": {
        "aten._log_softmax.default": 1, "aten.gather.default": 1, "aten.sum.dim_IntList": 1},
    "softplus": {"aten.log1p.default": 4},
    "angles": {"aten.atan2.default": 1},
    "vector norms": {"aten.sum.dim_IntList": 5},
    "cosine of small ones": {
        "aten.flip.default": 1, "aten.sum.dim_IntList": 3, "aten.clamp.Tensor": 2},
    "distances": {"aten.flip.default": 1, "aten.sum.dim_IntList": 2},
    "variances": {"aten.var.correction": 4},
    "group norm": {"aten.native_group_norm.default": 1},
    "softmax by hand": {"aten.sum.dim_IntList": 1},
    "log of a sum by hand": {"aten.sum.dim_IntList": 1},
    "attention that sees nothing": {"aten.any.dim": 1},
    "attention by numbers": {"aten.any.dim": 1},
    "nearest": {"aten.upsample_nearest2d.vec": 4},
    "upright": {"aten.upsample_nearest2d.vec": 1},
}  # fmt: skip


@PRECISIONS
@pytest.mark.parametrize(
    "chosen", chunks((*calls(), *extremes())), ids=lambda chosen: chosen[0].name
)
def test_each_call_is_taken_and_right(chosen: list[Row], use_fp16: bool) -> None:
    left = {row.name: LEFT[row.name] for row in chosen if row.name in LEFT}
    assert beside_whole(chosen, backend(use_fp16), ATTENTION) == left


# Never taken, and what PyTorch or to_edge writes otherwise today.
WITHOUT_A_CALL = {f"aten.{name}" for name in (
    "_log_softmax.default", "_to_copy.default", "sub.Scalar", "mul.Scalar", "div.Scalar", "div.Scalar_mode",
    "clone.default", "floor_divide.default", "pixel_shuffle.default", "scalar_tensor.default", "empty.memory_format",
)}  # fmt: skip


def test_every_row_has_a_call() -> None:
    taken = {name for row in (*calls(), *extremes()) for name in taken_by(backend(False), row)}
    assert set(TABLE) - taken == WITHOUT_A_CALL
