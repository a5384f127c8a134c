# SPDX-License-Identifier: BSD-3-Clause
"""Numbers of payloads, by the evaluator, beside eager PyTorch."""

from __future__ import annotations

import pytest
import torch
from torch.nn import functional as F

from executorch.backends.apple.mps.aot.ops import TABLE
from executorch.backends.apple.mps.aot.row import ALL, NUMBERS
from executorch.backends.apple.mps.test.corpus_values import backend
from executorch.backends.test.conformance.calls import ATTENTION, calls, extremes
from executorch.backends.test.conformance.condition_cases import among
from executorch.backends.test.conformance.corpus_values import (
    bad_rows,
    beside_whole,
    chunks,
    taken_by,
)
from executorch.backends.test.conformance.lowered import lower_edge
from executorch.backends.test.corpus import NETWORKS, rows
from executorch.backends.test.corpus.row import Row, numbers
from executorch.exir.graph_facts import op_name

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


X, IMAGE = numbers(3, 4, 6), numbers(1, 8, 6, 4)
aten = torch.ops.aten
# Those of them that a program has where they are not decomposed, and what rows above do not say.
ALONE = [
    among("sub.Scalar", lambda x: aten.sub.Scalar(x, 2.5, 2), X),
    among("mul.Scalar", lambda x: aten.mul.Scalar(x, 2.5), X),
    among("div.Scalar", lambda x: aten.div.Scalar(x, 2.5), X),
    among("div.Scalar_mode", lambda x: aten.div.Scalar_mode(x, 0.3, rounding_mode="floor"), X),
    among("div.Scalar_mode", lambda x: aten.div.Scalar_mode(x, 0.3, rounding_mode="trunc"), X),
    among("floor_divide.default", lambda x: aten.floor_divide(x, x.exp() + 0.5), X),
    among("pixel_shuffle.default", lambda x: F.pixel_shuffle(x, 2), IMAGE),
    among("scalar_tensor.default", lambda x: x * aten.scalar_tensor(2.5), X),
    among("empty.memory_format", lambda x: torch.where(x.isinf(), aten.empty([3, 4, 6]), x), X),
    among("clamp.default", lambda x: aten.clamp(x, max=0.3) + aten.clamp(x, min=-0.3), X),
    among("squeeze_copy.dims", lambda x: x[:, :1].squeeze((0, 1, -1)) * 2, X),
    among("mean.dim", lambda x: aten.mean.dim(x, None), X),
    among("convolution.default", lambda x: aten.convolution(x, KERNEL, None, [2], [1], [1], False, [0], 1), IMAGE),
    among("avg_pool2d.default", lambda x: F.avg_pool2d(x, (5, 3), padding=(2, 1), ceil_mode=True), IMAGE),
    among("avg_pool2d.default", lambda x: F.avg_pool2d(x, 20, padding=(5, 9), ceil_mode=True), IMAGE),
    among("avg_pool2d.default", lambda x: F.avg_pool2d(x, 3, 2, 1, False, False), IMAGE),
    among("max_pool2d_with_indices.default", lambda x: F.max_pool2d(x, (2, 3), (2, 1), (0, 1), (5, 2)), IMAGE),
    *(among("view_copy.default", lambda x: x.view(-1, 2), (X * 9).to(dtype)) for dtype in ALL),
    *(among("add.Tensor", lambda x: x + x, (X * 9).to(dtype)) for dtype in NUMBERS),
]  # fmt: skip
KERNEL = numbers(3, 8, 3, 3)


@PRECISIONS
def test_calls_that_stay_whole_are_right(use_fp16: bool) -> None:
    near = {"rtol": 4e-3, "atol": 1e-2} if use_fp16 else {"rtol": 1e-5, "atol": 1e-5}
    for each in ALONE:
        lowered = lower_edge(backend(use_fp16), each.program())
        kept = [
            name for n in lowered.manager.exported_program().graph.nodes if (name := op_name(n))
        ]
        assert lowered.delegates and not kept, f"{each}: {kept}"
        (found,) = lowered.runner()(*each.inputs)
        torch.testing.assert_close(
            found, each.code(*each.inputs), **near, msg=lambda text, e=each: f"{e}: {text}"
        )
