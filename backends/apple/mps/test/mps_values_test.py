# SPDX-License-Identifier: BSD-3-Clause
"""Numbers of payloads, by the evaluator, beside eager PyTorch."""

from __future__ import annotations

from typing import Any

import pytest
import torch

from executorch.backends.apple.mps.test.corpus_values import backend
from executorch.backends.test.conformance.corpus_values import (
    HALF,
    WHOLE,
    bad_rows,
    outcome_of,
)
from executorch.backends.test.corpus import NETWORKS, rows
from executorch.backends.test.corpus.row import numbers, row

pytestmark = pytest.mark.filterwarnings("ignore:The MPS:FutureWarning")
SAMPLE = 40  # every so many rows in the usual tests, all in test-full
NUMBERS = [(False, 0.0), (True, HALF)]
# Rows that ask for more than halves hold: the largest and smallest numbers of float32, and whole ones on whose other
# side rounding to halves puts a number.
BEYOND = {"elementwise/nan_to_num", "look-alikes/NaN and infinities", "calls/ceil", "calls/floor"}
LIMITS: dict[bool, set[str]] = {False: set(), True: BEYOND}


def check(chosen: Any, use_fp16: bool, tolerance: float) -> None:
    bad = bad_rows(chosen, backend(use_fp16), tolerance)
    assert bad.keys() == LIMITS[use_fp16] & {row.id for row in chosen}, bad


@pytest.mark.parametrize(("use_fp16", "tolerance"), NUMBERS)
def test_a_sample_of_the_corpus_is_right(use_fp16: bool, tolerance: float) -> None:
    check(rows()[7::SAMPLE], use_fp16, tolerance)


@pytest.mark.full
@pytest.mark.parametrize("is_network", [False, True])
@pytest.mark.parametrize(("use_fp16", "tolerance"), NUMBERS)
def test_the_corpus_is_right(use_fp16: bool, tolerance: float, is_network: bool) -> None:
    chosen = [row for row in rows() if (row.family in NETWORKS) == is_network]
    check(chosen, use_fp16, tolerance)


X, IMAGE = numbers(4, 5, 6), numbers(2, 3, 9, 10)
ROWS, COLUMNS = torch.tensor([0, 2, 3]), torch.tensor([1, 4, 0])
F = torch.nn.functional
# A call for each row of the table and each way of one that the corpus may lack; what 1.4.1 gets wrong among them.
CALLS = [
    row("compare with a number", lambda x: torch.where(x > 0.5, x.sign(), x), X),
    row("numbers of two dtypes", lambda x, i: (x == 1, i == 1), X, ROWS),
    row("bool and numbers", lambda x: ((x > 0) & (x < 1), torch.logical_not(x > 0), ~(x > 0)), X),
    row("integers", lambda i: (i * 3 - 1, i & 2, i | 4, i ^ 1, ~i, -i, i % 2, torch.fmod(i, 2)), ROWS),
    row("integers divided", lambda i: i / 3, ROWS),
    row("integers with floats", lambda x, i: x[:3, 0, 0] + i, X, ROWS),
    row("functions of integers", lambda i: (torch.sqrt(i), torch.sigmoid(i)), ROWS),
    row("rounded divisions", lambda x: (
        x // 0.3, torch.div(x, x + 9, rounding_mode="trunc"), torch.div(x, 2.0)), X),
    row("alpha", lambda x: (torch.add(x, x * 2, alpha=3), torch.sub(x, x * 2, alpha=0.5)), X),
    row("to int", lambda x: (x * 3).to(torch.int32) + 1, X),
    row("to half", lambda x: (x * 3).half() + 1, X, tolerance=1e-2),
    row("to bool", lambda x: (x.round().bool(), x.long().bool()), X),
    row("from bool", lambda x: (x > 0).float() + 1, X),
    row("limits", lambda x: (x.clamp(min=0.1), x.clamp(max=0.1), F.hardtanh(x), F.relu6(x), F.leaky_relu(x, 0.3)), X),
    row("gelus", lambda x: (F.gelu(x), F.gelu(x, approximate="tanh")), X),
    row("pool behind", lambda x: F.max_pool2d(x, 3, 2, 1, ceil_mode=True), IMAGE),
    row("pool dilated", lambda x: F.max_pool2d(x, 3, 2, 1, dilation=2), IMAGE),
    row("averages behind", lambda x: F.avg_pool2d(x, 4, 3, 1, ceil_mode=True), IMAGE),
    row("averages behind not counted", lambda x: F.avg_pool2d(
        x, 4, 3, 1, ceil_mode=True, count_include_pad=False), IMAGE),
    row("averages behind alone", lambda x: F.avg_pool2d(x, 4, 3, ceil_mode=True), IMAGE),
    row("averages by a number", lambda x: F.avg_pool2d(x, 4, 3, 1, divisor_override=5), IMAGE),
    row("convolution of rows", torch.nn.Conv1d(5, 7, 3, 2, 1, 2), X),
    row("depthwise", torch.nn.Conv2d(3, 6, 3, (2, 1), (0, 2), groups=3), IMAGE),
    row("groups", torch.nn.Conv2d(4, 6, 3, groups=2, bias=False), numbers(1, 4, 6, 6)),
    row("transposed", torch.nn.ConvTranspose2d(3, 4, 3, 2, 1, output_padding=1), IMAGE),
    row("transposed uneven", torch.nn.ConvTranspose2d(
        4, 6, (4, 1), (2, 3), (0, 0), groups=2, dilation=(2, 1)), numbers(2, 4, 5, 6)),
    row("transposed cropped", torch.nn.ConvTranspose2d(3, 4, 2, 2, (1, 2), bias=False), IMAGE),
    row("transposed by one", torch.nn.ConvTranspose2d(3, 3, 3, 1, 3, groups=3), IMAGE),
    row("transposed rows", torch.nn.ConvTranspose1d(5, 7, 4, 3, 1, output_padding=2), X),
    row("linear of a vector", torch.nn.Linear(6, 3), X[0, 0]),
    row("linear without bias", torch.nn.Linear(6, 3, bias=False), X),
    row("addmm", lambda x: torch.addmm(x[0] @ x[0].T, x[0], x[0].T, beta=0.5, alpha=3), X),
    row("norms", torch.nn.Sequential(torch.nn.LayerNorm(6), torch.nn.BatchNorm1d(5)), X),
    row("means", lambda x: (x.mean(-1), x.mean((0, 2), keepdim=True), x.mean([])), X),
    row("index", lambda x, i, j: (x[i], x[:, i], x[..., i], x[i, j], x[i, :, j], x[i, j, i], x[None, i]),
        X, ROWS, COLUMNS),
    row("index of two dimensions", lambda x, i: x[:, i.view(3, 1)], X, ROWS),
    row("put", lambda x, i: (torch.index_put(x, (i,), x[:3] + 1), torch.index_put(x, (i,), x[0, 0])), X, ROWS),
    row("put elements", lambda x, i, j: torch.index_put(x, (i, j, i), x[0, 0, :3]), X, ROWS, COLUMNS),
    row("select", lambda x, i: (x.index_select(-2, i), x[:, -2], x[..., 0]), X, ROWS),
    row("embedding", torch.nn.Embedding(9, 4, padding_idx=2), ROWS),
    row("scatter a slice", lambda x: (
        torch.slice_scatter(x, x[:, :3] + 1, 1, 1, 4), torch.slice_scatter(x, x[..., :3] * 2, -1, 0, 6, 2)), X),
    row("slices", lambda x: (x[:, -3:-1] * 2, x[..., 1:9:2] * 2, x.squeeze(0) * 2, x[:, :1].squeeze(1) * 2), X),
    row("permute", lambda x: (x.permute(-1, 0, 1) * 2, x.unsqueeze(-1) * 2, x.mT.reshape(-1) * 2), X),
    row("expand", lambda x: x.unsqueeze(1).expand(4, 7, 5, 6) * 2, X),
    row("pad", lambda x: F.pad(x, (1, 2, 0, 1), value=1.5), X),
    row("split", lambda x: [each * 2 for each in x.split([1, 4], 1)], X),
    row("cat of dtypes", lambda x: torch.cat([x, x.long()], -1), X),
    row("made of numbers", lambda x: (
        x + torch.arange(0, 3, 0.5), torch.arange(6) + x.long(), torch.full_like(x, 2.0) * x), X),
    row("shuffle", torch.nn.PixelShuffle(2), numbers(1, 8, 3, 3)),
    row("numbers without dimensions", lambda x: (x + 1, x > 0.5), torch.tensor(2.0)),
    row("identity", lambda x: (x, x + 1, x.clone()), X),
]  # fmt: skip
# Which whole number a float becomes depends on bits that halves lack.
ROUNDED = {"to int", "to bool", "cat of dtypes", "made of numbers"}


def test_each_call_is_right_and_taken() -> None:
    made_for = backend(False)
    found = {row.name: outcome_of(row, made_for) for row in CALLS}
    assert {name: vars(each) for name, each in found.items() if each.kind != WHOLE} == {}


def test_each_call_is_right_in_halves() -> None:
    chosen = [row for row in CALLS if row.name not in ROUNDED]
    assert bad_rows(chosen, backend(True), HALF) == {}
