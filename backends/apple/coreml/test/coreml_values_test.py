# SPDX-License-Identifier: BSD-3-Clause
"""Numbers of converted models, by the evaluator of ML Programs, beside eager PyTorch."""

from __future__ import annotations

from typing import Any

import pytest
import torch

pytest.importorskip("coremltools")

from executorch.backends.apple.coreml.test.corpus_values import backend, in_runtime
from executorch.backends.test.conformance.corpus_values import BAD, HALF, bad_rows, outcome_of
from executorch.backends.test.conformance.lowered import lower
from executorch.backends.test.corpus import NETWORKS, rows
from executorch.backends.test.corpus.row import numbers, row

SAMPLE = 40  # every so many rows in the usual tests, all in test-full
NUMBERS = [("FLOAT32", 0.0), ("FLOAT16", HALF)]


# Rows that ask for more than a precision holds. Core ML has no integers of 64 bits.
WIDE = {"look-alikes/int64 that floats cannot hold"}
LIMITS = {
    "FLOAT32": WIDE,
    "FLOAT16": WIDE
    | {
        "elementwise/nan_to_num",  # gives float32's largest number, which is infinite in 16 bits
        "look-alikes/NaN and infinities",  # the same
        "calls/ceil",  # of numbers that round up to a whole one, or down
        "calls/floor",
    },
}


def check(
    chosen: Any, target: str | None, precision: str, tolerance: float, is_loaded: bool
) -> None:
    """All but the rows of LIMITS, and those not. `is_loaded`: into the runtime, with the delegate on a stand-in."""
    made_for = backend(target, precision)
    made_for = in_runtime(made_for) if is_loaded else made_for
    bad = bad_rows(chosen, made_for, tolerance)
    assert bad.keys() == LIMITS[precision] & {row.id for row in chosen}, bad


@pytest.mark.parametrize("is_loaded", [False, True])
@pytest.mark.parametrize(("precision", "tolerance"), NUMBERS)
def test_a_sample_of_the_corpus_is_right(precision: str, tolerance: float, is_loaded: bool) -> None:
    check(rows()[7::SAMPLE], None, precision, tolerance, is_loaded)


@pytest.mark.full
@pytest.mark.parametrize("is_loaded", [False, True])
@pytest.mark.parametrize("is_network", [False, True])
@pytest.mark.parametrize(("precision", "tolerance"), NUMBERS)
@pytest.mark.parametrize("target", ["iOS15", "iOS17", "iOS18"])
def test_the_corpus_is_right(
    target: str, precision: str, tolerance: float, is_network: bool, is_loaded: bool
) -> None:
    chosen = [row for row in rows() if (row.family in NETWORKS) == is_network]
    check(chosen, target, precision, tolerance, is_loaded)


X, Y = numbers(3, 4), numbers(4, 3)
# What coremltools' frontend reads by place alone, or takes another default of: each was a wrong number, or nearly.
ARGUMENTS = [
    row("gelu", lambda x: torch.nn.functional.gelu(x, approximate="tanh"), X),
    row("var", torch.var, X),
    row("var of dims", lambda x: torch.var(x, [0, 1], correction=0), X),
    row("std", lambda x: torch.std(x, 1, keepdim=True), X),
    row("std corrected", lambda x: torch.std(x, 1, correction=2), X),
    row("addmm", lambda x, y: torch.addmm(x @ y, x, y, beta=0.5, alpha=3), X, Y),
    row("baddbmm", lambda x, y: torch.baddbmm((x @ y)[None], x[None], y[None], beta=0.5, alpha=3), X, Y),
    row("sub", lambda x: torch.sub(x, x * x, alpha=3), X),
    row("rsub", lambda x: torch.rsub(x, x * x, alpha=3), X),
    row("rsub number", lambda x: torch.rsub(x, 2.0, alpha=3), X),
    row("floor", lambda x: torch.div(x, 0.3, rounding_mode="floor"), X),
    row("trunc", lambda x: torch.div(x, x.abs() + 0.3, rounding_mode="trunc"), X),
    row("vecdot", lambda x: torch.linalg.vecdot(x, x * 2, dim=0), X),
    row("side", lambda x: torch.searchsorted(x.sort().values, x, right=True), X),
    row("attention", lambda x: torch.nn.functional.scaled_dot_product_attention(
        x[None], x[None], x[None], scale=0.3), X),
    row("scatter", lambda x: torch.scatter(x, 0, torch.zeros_like(x, dtype=torch.long)[:1], x[1:2], reduce="add"), X),
    row("statistics", torch.nn.InstanceNorm2d(4, track_running_stats=True), numbers(2, 4, 3, 3)),
    row("rms norm", torch.nn.RMSNorm(4), X),
    row("cosine", torch.nn.CosineSimilarity(), X, X.flip(0)),
    row("mse", torch.nn.MSELoss(), X, X.flip(0)),
    row("matrix norm", torch.linalg.matrix_norm, X),
    row("padding of the output", torch.nn.ConvTranspose2d(
        3, 4, 3, stride=2, padding=1, output_padding=1), numbers(1, 3, 4, 4)),
    row("vectors", lambda x: (x[0] @ x[1], x @ x[0]), X),
    row("antialias", lambda x: torch.nn.functional.interpolate(
        x, (3, 3), mode="bilinear", antialias=True), numbers(1, 2, 6, 6)),
]  # fmt: skip


@pytest.mark.parametrize("target", ["iOS15", "iOS18"])
def test_arguments_that_the_frontend_reads_otherwise(target: str) -> None:
    made_for = backend(target, "FLOAT32")
    found = {row.name: outcome_of(row, made_for) for row in ARGUMENTS}
    assert {name: each.text for name, each in found.items() if each.kind in BAD} == {}
    left = {name for name, each in found.items() if each.left}
    assert left == {"antialias", "sub", "rsub", "rsub number", "scatter"}


class Counter(torch.nn.Module):
    def __init__(self) -> None:
        super().__init__()
        self.register_buffer("total", torch.zeros(4))

    def forward(self, x: torch.Tensor) -> torch.Tensor:
        self.total.view(2, 2).copy_(self.total.view(2, 2) + x.view(2, 2))
        return self.total * 2


@pytest.mark.parametrize("as_state", [True, False])
def test_a_state_keeps_what_a_run_left_in_it(as_state: bool) -> None:
    made_for = backend("iOS18", "FLOAT32", take_over_mutable_buffer=as_state)
    lowered = lower(made_for, Counter(), (torch.ones(4),))
    if as_state:
        run = lowered.runner()
        for times in (1, 2, 3):
            (found,) = run(torch.full((4,), 0.5))
            assert found.tolist() == [float(times)] * 4
    else:  # the program has the buffer, and gives it to its delegate
        (found,) = lowered.runner()(torch.full((4,), 0.5))
        assert found.tolist() == [1.0] * 4
