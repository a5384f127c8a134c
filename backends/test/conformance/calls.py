# SPDX-License-Identifier: BSD-3-Clause
"""Calls for the fast tests of backends: one for each operator that tables have, and each way of one, several in a
program; and numbers that are computed wrongly where a formula is another than PyTorch's. Each backend says what of them
it leaves, and that each row of its table has a call."""

from __future__ import annotations

import functools
from collections.abc import Callable

import torch
import torch.nn.functional as F

from executorch.backends.test.corpus.row import Row, numbers, row

X, IMAGE = numbers(4, 5, 6), numbers(2, 3, 9, 10)
ROWS = torch.tensor([0, 2, 3])
SMALL_IMAGE = numbers(1, 2, 5, 7)
SMALL = torch.tensor([[0.5, 0.05, 5e-3, 5e-4], [-3.0, -0.7, 1e-4, 70.0]])
FAR = torch.tensor([[0.0, -20.0, -90.0, -120.0], [200.0, -200.0, 5.0, 0.0]])
SEEN = torch.tensor([[True, True, False], [False, False, False], [True, False, True]])

# Of these inputs are as they are: halves hold no scores of 300 with 300, a mask of zeros times infinity is none, and
# of an angle -0 is on the other side of the cut.
ATTENTION = {"attention that sees nothing", "attention by numbers", "causal", "angles"}
Rows = Callable[[], tuple[Row, ...]]


def seeded(make: Callable[[], list[Row]]) -> Rows:
    """The same weights in every process."""

    @functools.cache
    def made() -> tuple[Row, ...]:
        with torch.random.fork_rng(devices=[]):
            torch.manual_seed(0)
            return tuple(make())

    return made


@seeded
def calls() -> list[Row]:
    """For each operator of tables, and each way of one."""
    return [
        row("compare with a number", lambda x: torch.where(x > 0.5, x.sign(), x), X),
        row("numbers of two dtypes", lambda x, i: (x == 1, i == 1), X, ROWS),
        row("bool and numbers", lambda x: (
            (x > 0) * (x < 1), (x > 0) & (x < 1), torch.logical_not(x > 0), ~(x > 0)), X),
        row("integers", lambda i: (i * 3 - 1, i & 2, i | 4, i ^ 1, ~i, -i, i % 2, torch.fmod(i, 2)), ROWS),
        row("integers divided", lambda i: i / 3, ROWS),
        row("integers with floats", lambda x, i: x[:3, 0, 0] + i, X, ROWS),
        row("functions of integers", lambda i: (torch.sqrt(i), torch.sigmoid(i)), ROWS),
        row("rounded divisions", lambda x: (
            x // 0.3, torch.div(x, x + 9, rounding_mode="trunc"), torch.div(x, 2.0),
            torch.fmod(x, 0.3), torch.fmod(x, x[0].abs() + 1)), X),
        row("alpha", lambda x: (torch.add(x, x * 2, alpha=3), torch.sub(x, x * 2, alpha=0.5)), X),
        row("to int", lambda x: (x * 3).to(torch.int32) + 1, X),
        row("to half", lambda x: (x * 3).half() + 1, X, tolerance=2e-2),
        row("to bool", lambda x: (x.round().bool(), x.long().bool()), X),
        row("from bool", lambda x: (x > 0).float() + 1, X),
        row("functions", lambda x: [getattr(torch, name)(x) for name in (
            "exp", "exp2", "erf", "sin", "cos", "tan", "sinh", "cosh", "tanh", "atan", "asinh", "floor", "ceil",
            "relu")], X),
        row("functions of what is above 0", lambda x: [getattr(torch, name)(x.abs() + 0.01) for name in (
            "log", "log2", "log10", "sqrt", "rsqrt", "reciprocal")], X),
        row("functions of fractions", lambda x: [getattr(torch, name)(x.clamp(-0.9, 0.9)) for name in (
            "asin", "acos", "atanh")] + [torch.acosh(x.abs() + 1)], X),
        row("powers", lambda x: (x.abs() ** 1.5, x ** 3, x.abs() ** x.sign(), 1 / (x * x + 1)), X),
        row("comparisons", lambda x, y: (x == y, x != y, x >= y, x > y, x <= y, x < y), X, X.roll(1)),
        row("comparisons with a number", lambda x: (x == 1, x != 1, x >= 1, x > 1, x <= 1, x < 1), X),
        row("tests", lambda x: ((1 / x).isinf(), (x / x).isnan()), X.round()),
        row("bits", lambda i: (i & (i + 1), i | (i + 1), i ^ (i + 1)), ROWS),
        row("two of one size", lambda x: (torch.minimum(x, x * x), torch.remainder(x, x.abs() + 1),
            torch.bmm(x, x.mT), torch.matmul(x[0], x[1].mT)), X),
        row("softmax", lambda x: (x.softmax(-1), x.softmax(0)), X),
        row("limits", lambda x: (
            x.clamp(min=0.1), x.clamp(max=0.1), F.hardtanh(x), F.relu6(x), F.leaky_relu(x, 0.3)), X),
        row("gelus", lambda x: (F.gelu(x), F.gelu(x, approximate="tanh")), X),
        row("pool behind", lambda x: F.max_pool2d(x, 3, 2, 1, ceil_mode=True), IMAGE),
        row("pool dilated", lambda x: F.max_pool2d(x, 3, 2, 1, dilation=2), IMAGE),
        row("averages behind", lambda x: F.avg_pool2d(x, 4, 3, 1, ceil_mode=True), IMAGE),
        row("averages behind not counted", lambda x: F.avg_pool2d(
            x, 4, 3, 1, ceil_mode=True, count_include_pad=False), IMAGE),
        row("averages behind alone", lambda x: F.avg_pool2d(x, 4, 3, ceil_mode=True), IMAGE),
        row("averages of all", lambda x: (
            F.avg_pool2d(x, 1280, 1280, ceil_mode=True), F.avg_pool2d(x, (14, 4), 4, (2, 0), ceil_mode=True)), IMAGE),
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
        row("norms without weights", torch.nn.Sequential(
            torch.nn.LayerNorm(6, elementwise_affine=False), torch.nn.LayerNorm(6, bias=False),
            torch.nn.BatchNorm1d(5, affine=False)), X),
        row("means", lambda x: (x.mean(-1), x.mean((0, 2), keepdim=True), x.mean([])), X),
        row("index", lambda x, i: (x[i], x[:, i], x[..., i], x[None, :, i]), X, ROWS),
        row("index of two dimensions", lambda x, i: x[:, i.view(3, 1)], X, ROWS),
        row("put", lambda x, i: (torch.index_put(x, (i,), x[:3] + 1), torch.index_put(x, (i,), x[0, 0])), X, ROWS),
        row("put values of fewer dimensions", lambda x, i: torch.index_put(x, (i,), x[0, 0, 0]), X, ROWS),
        row("select", lambda x, i: (x.index_select(-2, i), x[:, -2], x[..., 0]), X, ROWS),
        row("embedding", torch.nn.Embedding.from_pretrained(numbers(9, 4), padding_idx=2), ROWS),
        row("scatter a slice", lambda x: (
            torch.slice_scatter(x, x[:, :3] + 1, 1, 1, 4), torch.slice_scatter(x, x[..., :3] * 2, -1, 0, 6, 2)), X),
        row("slices", lambda x: (x[:, -3:-1] * 2, x[..., 1:9:2] * 2, x.squeeze(0) * 2, x[:, :1].squeeze(1) * 2), X),
        row("permute", lambda x: (x.permute(-1, 0, 1) * 2, x.unsqueeze(-1) * 2, x.mT.reshape(-1) * 2), X),
        row("expand", lambda x: (x.unsqueeze(1).expand(4, 7, 5, 6) * 2, x.expand(2, 4, 5, 6) * 2), X),
        row("pad", lambda x: F.pad(x, (1, 2, 0, 1), value=1.5), X),
        row("split", lambda x: [each * 2 for each in x.split([1, 4], 1)], X),
        row("cat of dtypes", lambda x: torch.cat([x, x.long()], -1), X),
        row("made of numbers", lambda x: (
            x + torch.arange(0, 3, 0.5), torch.arange(6) + x.long(), torch.full_like(x, 2.0) * x), X),
        row("shuffle", torch.nn.PixelShuffle(2), numbers(1, 8, 3, 3)),
        row("numbers without dimensions", lambda x: (x + 1, x > 0.5), torch.tensor(2.0)),
        row("identity", lambda x: (x, x + 1, x.clone()), X),
        row("sums and extrema", lambda x: (
            x.sum(-1), x.sum((0, 2), keepdim=True), x.amax(1), x.amin((0, 1)), x.prod(2)), X),
        row("places", lambda x: (x.argmax(1), x.argmin(-1, keepdim=True)), X),
        row("largest", lambda x: (*x.max(1), *x.min(-1), *x.topk(2)), X),
        row("any and all", lambda x: ((x > 2).any(), (x > 1).any(1), (x > 0).all(1)), X),
        row("logic", lambda x: (
            torch.logical_and(x > 0, x < 1), torch.logical_or(x > 0, x < -1), torch.logical_xor(x > 0, x < 1),
            (x > 0) | (x < -1), (x > 0) ^ (x < 1)), X),
        row("activations", lambda x: (
            x.sigmoid(), F.silu(x), F.hardswish(x), F.hardsigmoid(x), F.elu(x, 0.7), F.hardshrink(x, 0.3)), X),
        row("joined", lambda x: (
            torch.cat([x, x * 2], 1), torch.stack([x, x * 2]), x.repeat(1, 2, 1) * 2, x.flip(1) * 2,
            x.roll(1, 2) * 2), X),
        row("bilinear", lambda x: (
            F.interpolate(x, scale_factor=2.0, mode="bilinear"),
            F.interpolate(x, (5, 7), mode="bilinear", align_corners=True)), IMAGE),
        row("sampled", lambda x, g: F.grid_sample(
            x, g, "bilinear", "border", align_corners=True), IMAGE, numbers(2, 4, 5, 2).tanh()),
        row("norms of images", torch.nn.Sequential(torch.nn.BatchNorm2d(3), torch.nn.GroupNorm(1, 3)), IMAGE),
        row("triangles", lambda x: (x.tril() * 2, x.triu(1) * 2, x.cumsum(1)), X),
        row("gates", lambda x: (F.glu(x, 2), F.pad(IMAGE * x[0, 0, 0], (1, 1, 1, 1), mode="reflect")), X),
        row("pools", lambda x: (
            F.adaptive_avg_pool2d(x, 3), F.adaptive_avg_pool2d(x, 1), F.avg_pool1d(x[0], 2)), IMAGE),
        row("filled", lambda x: (
            torch.ones_like(x) + x, torch.zeros_like(x) * x, x + torch.full((6,), 2.0), x * torch.ones(5, 1)), X),
        row("gathered", lambda x, i: x.gather(0, i.view(3, 1, 1).expand(3, 5, 6)), X, ROWS),
    ]  # fmt: skip


@seeded
def extremes() -> list[Row]:
    """Small, large and far numbers, sizes that are no multiples, and what halves do not hold on the way."""
    return [
        row("one over", lambda x: (1 / x, torch.reciprocal(x), torch.rsqrt(x.abs()), 3 / x), SMALL),
        row("logarithms", lambda x: [getattr(torch, name)(x.abs()) for name in (
            "log", "log2", "log10", "log1p")], SMALL),
        row("log1p and expm1", lambda x: (torch.log1p(x), torch.expm1(x)), torch.tensor([1e-6, -3e-4, 0.3, -0.6, 5.0])),
        row("log_softmax", lambda x: (F.log_softmax(x, -1), F.log_softmax(x, 0), F.softmin(x, -1)), FAR),
        row("logsigmoid", F.logsigmoid, FAR),
        row("cross entropy", lambda x: F.cross_entropy(x, torch.tensor([1, 0]), reduction="none"), FAR),
        row("ignored targets", lambda x: F.cross_entropy(x, torch.tensor([2, -100])), FAR),
        row("softplus", lambda x: (
            F.softplus(x), F.softplus(x, threshold=1), F.softplus(x, 2, 3), F.softplus(x[None, None], 0.5)), SMALL),
        row("logit", lambda x: (torch.logit(x, 1e-3), torch.logit(x.clamp(0.1, 0.9))), SMALL),
        row("angles", torch.atan2, torch.tensor([0.0, 1, -1, 0, 2, -3]), torch.tensor([-1.0, 0, 0, 0, -3, 2])),
        row("vector norms", lambda x: (
            x / x.norm(), F.normalize(x), x.norm(3, -1), x.norm(1), torch.linalg.matrix_norm(x)), SMALL),
        row("cosine of small ones", lambda x: F.cosine_similarity(x * 1e-2, x.flip(0) * 1e-3), SMALL),
        row("distances", lambda x: (F.pairwise_distance(x, x.flip(0)), torch.dist(x, x * x)), SMALL),
        row("variances", lambda x: (x.var(), x.std(1), torch.var(x, [0, 1], correction=0), torch.std(x, 0)), FAR),
        row("rms norm", torch.nn.RMSNorm(4), FAR),
        row("rms norm with an eps", torch.nn.RMSNorm(4, eps=1e-5, elementwise_affine=False), SMALL),
        row("rms norm by hand", lambda x: x * torch.rsqrt((x * x).mean(-1, keepdim=True) + 1e-6) * 2, FAR),
        row("group norm", torch.nn.GroupNorm(2, 4), numbers(2, 4, 3, 5) * 200),
        row("layer norm", torch.nn.LayerNorm(4), FAR),
        row("softmax by hand", lambda x: torch.exp(x) / torch.exp(x).sum(-1, keepdim=True), SMALL),
        row("log of a sum by hand", lambda x: torch.log(torch.exp(x).sum(-1)),
            torch.tensor([[20.0, 3.0], [-30.0, -40.0]])),
        row("large factor", lambda x: (x * 1e-4) * 1e5, SMALL),
        row("attention that sees nothing", lambda x, m: F.scaled_dot_product_attention(x, x, x, m),
            numbers(1, 2, 3, 4), SEEN),
        row("attention by numbers", lambda x, m: F.scaled_dot_product_attention(x, x, x, m, scale=0.3),
            numbers(1, 2, 3, 4), torch.zeros(3, 3).masked_fill(~SEEN, -torch.inf)),
        row("causal", lambda x: F.scaled_dot_product_attention(x, x, x, is_causal=True), numbers(2, 3, 4)),
        row("nearest", lambda x: (
            F.interpolate(x, scale_factor=1.4), F.interpolate(x, (7, 9)), F.interpolate(x, (3, 4)),
            F.interpolate(x, scale_factor=2.0), F.interpolate(x[0], 10)), SMALL_IMAGE),
        row("upright", lambda x: F.interpolate(x, scale_factor=(1.0, 1.5)), SMALL_IMAGE),
    ]  # fmt: skip
