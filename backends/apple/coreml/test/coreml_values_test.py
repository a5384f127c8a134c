# SPDX-License-Identifier: BSD-3-Clause
"""Numbers of converted models, by the evaluator of ML Programs, beside eager PyTorch."""

from __future__ import annotations

from typing import Any

import pytest
import torch

pytest.importorskip("coremltools")

from executorch.backends.apple.coreml.test.corpus_values import backend, in_runtime
from executorch.backends.test.conformance.calls import ATTENTION, extremes
from executorch.backends.test.conformance.corpus_values import (
    BAD,
    bad_rows,
    beside_whole,
    chunks,
    outcome_of,
)
from executorch.backends.test.conformance.lowered import lower
from executorch.backends.test.corpus import NETWORKS, rows, sample
from executorch.backends.test.corpus.row import Row, numbers, row

# In the usual tests an old target in float32 and a new one in halves; all in test-full.
MADE_FOR = pytest.mark.parametrize(
    ("target", "precision"), [("iOS15", "FLOAT32"), ("iOS18", "FLOAT16")]
)
# Core ML has no integers of 64 bits.
LIMITS = {"look-alikes/int64 that floats cannot hold"}


def check(chosen: Any, target: str | None, precision: str, is_loaded: bool = False) -> None:
    """All but the rows of LIMITS, and those not. `is_loaded`: into the runtime, with the delegate on a stand-in."""
    made_for = backend(target, precision)
    made_for = in_runtime(made_for) if is_loaded else made_for
    bad = bad_rows(chosen, made_for)
    assert bad.keys() == LIMITS & {row.id for row in chosen}, bad


@MADE_FOR
@pytest.mark.parametrize("chosen", chunks(sample(), 3), ids=lambda chosen: chosen[0].family)
def test_a_row_of_each_family_is_right(chosen: list[Row], target: str, precision: str) -> None:
    check(chosen, target, precision)


@pytest.mark.parametrize("precision", ["FLOAT32", "FLOAT16"])
def test_the_delegate_gives_and_takes_what_a_model_does(precision: str) -> None:
    check(rows()[7::40], None, precision, is_loaded=True)


@pytest.mark.full
@pytest.mark.parametrize("is_loaded", [False, True])
@pytest.mark.parametrize("is_network", [False, True])
@pytest.mark.parametrize("precision", ["FLOAT32", "FLOAT16"])
@pytest.mark.parametrize("target", ["iOS15", "iOS17", "iOS18"])
def test_the_corpus_is_right(
    target: str, precision: str, is_network: bool, is_loaded: bool
) -> None:
    chosen = [row for row in rows() if (row.family in NETWORKS) == is_network]
    check(chosen, target, precision, is_loaded)


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
    row("padding of the output of rows", torch.nn.ConvTranspose1d(
        3, 4, 3, stride=2, padding=1, output_padding=1), numbers(1, 3, 4)),
    row("transposed volumes", torch.nn.ConvTranspose3d(4, 4, 2, stride=2, padding=1, groups=2), numbers(1, 4, 4, 4, 4)),
    row("attention of matrices", lambda x: torch.nn.functional.scaled_dot_product_attention(x, x, x), X),
    row("attention of heads for all", lambda x, y: torch.nn.functional.scaled_dot_product_attention(x, y, y),
        numbers(2, 3, 4), numbers(1, 3, 4)),
    row("vectors", lambda x: (x[0] @ x[1], x @ x[0]), X),
    row("elu", lambda x: (torch.nn.functional.elu(x), torch.nn.functional.elu(x, 0.7), torch.nn.functional.selu(x),
        torch.celu(x, 0.3), torch.ops.aten.elu.default(x, 0.7, 1.5, 2.0)), X),
    row("antialias", lambda x: torch.nn.functional.interpolate(
        x, (3, 3), mode="bilinear", antialias=True), numbers(1, 2, 6, 6)),
]  # fmt: skip


# Of these some calls stay on the CPU.
LEFT = {"antialias", "sub", "rsub", "rsub number", "scatter"}


@MADE_FOR
@pytest.mark.parametrize("chosen", chunks(extremes(), 3), ids=lambda chosen: chosen[0].name)
def test_small_and_large_numbers(chosen: list[Row], target: str, precision: str) -> None:
    assert beside_whole(chosen, backend(target, precision), ATTENTION) == {}


@MADE_FOR
@pytest.mark.parametrize("chosen", chunks(ARGUMENTS, 4), ids=lambda chosen: chosen[0].name)
def test_arguments_that_the_frontend_reads_otherwise(
    chosen: list[Row], target: str, precision: str
) -> None:
    made_for = backend(target, precision)
    found = {row.name: outcome_of(row, made_for) for row in chosen}
    assert {name: each.text for name, each in found.items() if each.kind in BAD} == {}
    assert {name for name, each in found.items() if each.left} == LEFT & found.keys()


F = torch.nn.functional
H, ABOVE, PLACES = X.half(), X.half().abs() + 0.25, numbers(2, 4, 3, 3).half()
# Of a model in halves: what is computed with numbers, which coremltools wants in halves, too.
HALVES = [
    row("functions", lambda x: (torch.expm1(x), F.softplus(x), F.softplus(x, 2.0, 3.0), torch.atan2(x, x + 1),
        torch.log_softmax(x, 1)), H),
    row("of what is above 0", lambda x: (1 / x, torch.reciprocal(x), torch.rsqrt(x), torch.log(x), torch.log2(x),
        torch.log10(x), torch.log1p(x)), ABOVE),
    row("between 0 and 1", lambda x: (torch.logit(x.sigmoid()), torch.logit(x.sigmoid(), 0.125)), H),
    row("units", lambda x: (F.elu(x), F.elu(x, 0.75), F.selu(x), torch.celu(x, 0.25)), H),
    row("attention", lambda x: (F.scaled_dot_product_attention(x, x, x),
        F.scaled_dot_product_attention(x, x, x, is_causal=True), F.scaled_dot_product_attention(x, x, x, scale=0.25),
        F.scaled_dot_product_attention(x, x, x, x @ x.mT),
        F.scaled_dot_product_attention(x, x, x, x @ x.mT > 1)), H[None]),
    # Small values: an eps that is another makes another norm.
    row("norms", torch.nn.Sequential(
        torch.nn.LayerNorm(4), torch.nn.LayerNorm(4, elementwise_affine=False), torch.nn.RMSNorm(4)).half(), H / 64),
    row("a norm of squares", torch.nn.RMSNorm(4).half(), H / 64),
    row("a norm of groups", torch.nn.GroupNorm(2, 4).half(), PLACES),
    row("cosine", torch.nn.CosineSimilarity(), H, H.flip(0)),
    row("resized", torch.nn.Upsample(scale_factor=2), PLACES),
]  # fmt: skip


NEWEST = [row for row in HALVES if row.name == "attention"]  # which iOS 18 has as one operation


@pytest.mark.parametrize(
    ("target", "chosen"), [*((None, each) for each in chunks(HALVES, 3)), ("iOS18", NEWEST)]
)
def test_models_in_halves(target: str | None, chosen: list[Row]) -> None:
    made_for = backend(target, "FLOAT16")
    found = {row.name: outcome_of(row, made_for) for row in chosen}
    assert {name: each.text for name, each in found.items() if each.kind in BAD} == {}
    assert {name: each.left for name, each in found.items() if each.left} == {}


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
