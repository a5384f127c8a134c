# SPDX-License-Identifier: BSD-3-Clause
"""Rows: functions of torch and torch.nn.functional, by what they are for."""

from __future__ import annotations

import math

import torch
import torch.nn.functional as F

from executorch.backends.test.corpus.row import Row, integers, numbers, row

X, Y, V = numbers(4, 6), numbers(4, 6) + 0.5, numbers(12)
BATCH, IMAGE, IDS = numbers(2, 3, 5), numbers(2, 3, 8, 8), integers(6, 3, 4)
EDGES = torch.tensor([-1.0, -0.2, 0.3, 1.1])
EVEN = torch.arange(12.0).reshape(3, 4) % 5

SORTING: list[Row] = [
    row("sort", lambda x: torch.sort(x, -1), X),
    row("sort descending", lambda x: x.sort(0, descending=True), X),
    row("sort stable", lambda x: torch.sort(x, stable=True), EVEN),
    row("argsort", lambda x: torch.argsort(x, -1), X),
    row("argsort stable", lambda x: torch.argsort(x, stable=True, descending=True), EVEN),
    row("msort", torch.msort, X),
    row("topk", lambda x: torch.topk(x, 3), X),
    row("kthvalue", lambda x: torch.kthvalue(x, 2), X),
    row("median", lambda x: x.median(), X),
    row("median of odd count", lambda x: x[0, :5].median(), X),
    row("median dim", lambda x: x.median(-1), X),
    row("median dim keepdim", lambda x: torch.median(x, 0, keepdim=True), X),
    row("nanmedian", lambda x: torch.nanmedian(x), X),
    row("mode", lambda x: torch.mode(x, -1), EVEN, refused=r"aten::mode\.values"),
    row("quantile", lambda x: torch.quantile(x, 0.3, dim=-1), X),
    row("quantiles", lambda x: torch.quantile(x, torch.tensor([0.1, 0.9])), X),
    row("unique", lambda x: torch.unique(x), IDS),
    row(
        "unique inverse counts",
        lambda x: torch.unique(x, return_inverse=True, return_counts=True),
        IDS,
    ),
    row("unique_consecutive", lambda x: torch.unique_consecutive(x), IDS.flatten().sort()[0]),
    row("bucketize", lambda x: torch.bucketize(x, EDGES), X),
    row("bucketize right", lambda x: torch.bucketize(x, EDGES, right=True), X),
    row("searchsorted", lambda x: torch.searchsorted(EDGES, x), X),
    row(
        "searchsorted rows",
        lambda x, s: torch.searchsorted(s, x, right=True),
        X,
        numbers(4, 5).sort()[0],
    ),
    row("isin", lambda x: torch.isin(x, torch.tensor([1, 3])), IDS),
    row("histc", lambda x: torch.histc(x, 5, -1.0, 1.0), X, refused=r"aten::histc"),
    row(
        "bincount",
        lambda x: torch.bincount(x, minlength=6),
        IDS.flatten(),
        refused=r"sizes without an upper bound: aten_bincount",
    ),
]

REDUCTIONS: list[Row] = [
    row("sum mean", lambda x: (x.sum(), x.mean(0), x.sum((0, 1), keepdim=True)), X),
    row("prod", lambda x: (x.prod(), x.prod(1)), X),
    row("max min", lambda x: (x.max(), x.max(1), x.min(0, keepdim=True)), X),
    row("amax aminmax", lambda x: (x.amax(1), torch.aminmax(x, dim=1)), X),
    row("argmax argmin", lambda x: (x.argmax(), x.argmin(1, keepdim=True)), X),
    row("var std", lambda x: (x.var(), x.std(1), torch.var_mean(x), torch.std_mean(x, 0)), X),
    row("all any", lambda x: ((x > 0).all(), (x > 0).any(1), (x > 0).all(0)), X),
    row("logsumexp", lambda x: torch.logsumexp(x, 1), X),
    row("cumsum", lambda x: x.cumsum(1), X),
    row("cumprod", lambda x: x.cumprod(1), X),
    row("cumprod of ints", lambda x: (x + 1).cumprod(0), IDS),
    row("cummax cummin", lambda x: (x.cummax(1), x.cummin(0)), X),
    row("logcumsumexp", lambda x: torch.logcumsumexp(x, 1), X),
    row("diff", lambda x: torch.diff(x), X),
    row("trapezoid", lambda x: torch.trapezoid(x), X),
    row("count_nonzero", lambda x: torch.count_nonzero(x > 0, 1), X),
    row("nansum nanmean", lambda x: (torch.nansum(x), torch.nanmean(x, 1)), X),
    row("norm", lambda x: (x.norm(), x.norm(1, dim=1), x.norm(math.inf)), X),
    row("dist cdist", lambda x, y: (torch.dist(x, y), torch.cdist(x, y)), X, Y),
    row("pdist", F.pdist, X),
    row("cov corrcoef", lambda x: (torch.cov(x), torch.corrcoef(x)), X, is_exported=False),
]

ELEMENTWISE: list[Row] = [
    row("trigonometry", lambda x: (x.sin(), x.cos(), x.tan(), x.atan(), x.sinh(), x.asinh()), X),
    row(
        "inverse trigonometry", lambda x: (x.asin(), x.acos(), x.atanh(), x.atan2(x + 1)), X.tanh()
    ),
    row("exponentials", lambda x: (x.exp(), x.exp2(), x.expm1(), torch.sigmoid(x)), X),
    row("logarithms", lambda x: (x.log(), x.log2(), x.log10(), x.log1p()), X.abs() + 0.1),
    row("powers", lambda x: (x**2, x**0.5, 2**x, x.pow(x), x.square(), x.rsqrt()), X.abs() + 0.1),
    row(
        "special",
        lambda x: (torch.erf(x), torch.erfc(x), torch.lgamma(x), torch.digamma(x)),
        X,
        refused=r"aten::digamma[^$]*aten::lgamma",
    ),
    row("erfinv", lambda x: torch.erfinv(x), X.tanh(), refused=r"aten::erfinv"),
    row("special bessel", lambda x: (torch.i0(x), torch.special.i0e(x)), X, refused=r"aten::i0"),
    row(
        "special others",
        lambda x: (torch.special.entr(x), torch.xlogy(x, x), torch.sinc(x)),
        X.abs(),
    ),
    row("logit", lambda x: torch.logit(x, 1e-6), X.sigmoid()),
    row(
        "rounding",
        lambda x: (x.round(), x.floor(), x.ceil(), x.trunc(), x.frac(), x.round(decimals=1)),
        X,
    ),
    row("clamp", lambda x: (x.clamp(-1, 1), x.clamp(min=0), torch.clip(x, max=0.5)), X),
    row("sign", lambda x: (x.sign(), torch.sgn(x), torch.copysign(x, -x), torch.signbit(x)), X),
    row("heaviside", lambda x: torch.heaviside(x, torch.tensor(0.5)), X),
    row("fmax fmin", lambda x, y: (torch.fmax(x, y), torch.fmin(x, y), torch.maximum(x, y)), X, Y),
    row(
        "hypot logaddexp",
        lambda x, y: (torch.hypot(x, y), torch.logaddexp(x, y), torch.logaddexp2(x, y)),
        X,
        Y,
    ),
    row(
        "lerp addcmul",
        lambda x, y: (torch.lerp(x, y, 0.3), torch.addcmul(x, x, y), torch.addcdiv(x, y, x)),
        X,
        Y,
    ),
    row(
        "division",
        lambda x, y: (x // y, x % y, torch.fmod(x, y), torch.div(x, y, rounding_mode="trunc")),
        X,
        Y,
    ),
    row("ldexp frexp", lambda x: torch.ldexp(x, torch.tensor(3)), X),
    row("bitwise", lambda x: (x & 3, x | 1, x ^ 5, ~x, x << 2, x >> 1), IDS),
    row(
        "logical",
        lambda x, y: (x.logical_and(y), x.logical_or(y), x.logical_xor(y), x.logical_not()),
        X > 0,
        Y > 0,
    ),
    row("compare", lambda x, y: (x == y, x != y, x < y, x >= y, torch.isclose(x, y)), X, Y),
    row(
        "isclose", lambda x, y: (torch.isclose(x, y), x.isnan(), x.isinf(), torch.isfinite(x)), X, Y
    ),
    row("allclose", lambda x, y: torch.isclose(x, y).all(), X, Y),
    row("nan_to_num", lambda x: torch.nan_to_num(x / x.floor()), X),
    row(
        "gcd lcm",
        lambda x: (torch.gcd(x, x + 2), torch.lcm(x + 1, x + 2)),
        IDS,
        refused=r"aten::gcd[^$]*aten::lcm",
    ),
    row("float_power", lambda x: torch.float_power(x, 2), X),
    row("deg2rad", lambda x: (torch.deg2rad(x), torch.rad2deg(x)), X),
    row("nextafter", lambda x, y: torch.nextafter(x, y), X, Y, refused=r"aten::nextafter"),
]

INDEXING: list[Row] = [
    row("slices", lambda x: (x[1:], x[:, ::2], x[-1], x[..., None, 0]), X),
    row(
        "index list",
        lambda x: (
            x[[0, 2]],
            x[:, torch.tensor([1, 3])],
            x[torch.tensor([0, 1]), torch.tensor([2, 3])],
        ),
        X,
    ),
    row("mask select", lambda x: x[x > 0], X),
    row("mask select of rows", lambda x: x[x[:, 0] > 0], X),
    row("masked_select", lambda x: torch.masked_select(x, x > 0), X),
    row("masked_fill where", lambda x: (x.masked_fill(x > 0, -1.0), torch.where(x > 0, x, 0.0)), X),
    row("where to indices", lambda x: torch.where(x > 0), X),
    row("nonzero", lambda x: torch.nonzero(x > 0), X),
    row("argwhere", lambda x: torch.argwhere(x > 0), X),
    row(
        "gather take",
        lambda x: (
            x.gather(1, torch.tensor([[0], [1], [2], [0]])),
            torch.take(x, torch.tensor([0, 7])),
        ),
        X,
    ),
    row("take_along_dim", lambda x: torch.take_along_dim(x, x.argmax(1, keepdim=True), 1), X),
    row("index_select", lambda x: x.index_select(1, torch.tensor([2, 0])), X),
    row("index_add", lambda x: x.index_add(0, torch.tensor([0, 2]), torch.ones(2, 6)), X),
    row("index_copy", lambda x: x.index_copy(0, torch.tensor([0, 2]), torch.ones(2, 6)), X),
    row("index_fill", lambda x: x.index_fill(0, torch.tensor([0, 2]), 3.0), X),
    row(
        "index_put accumulate",
        lambda x: x.index_put((torch.tensor([0, 0]),), torch.ones(6), accumulate=True),
        X,
    ),
    row(
        "index_reduce",
        lambda x: x.index_reduce(0, torch.tensor([0, 2]), torch.ones(2, 6), "prod"),
        X,
    ),
    row("put", lambda x: torch.put(x, torch.tensor([1, 5]), torch.tensor([9.0, 8.0])), X),
    row("scatter", lambda x: x.scatter(1, torch.tensor([[0], [1], [2], [0]]), 9.0), X),
    row(
        "scatter_add",
        lambda x: torch.zeros(4, 6).scatter_add(
            1, torch.tensor([[0, 0], [1, 1], [2, 2], [0, 1]]), x[:, :2]
        ),
        X,
    ),
    row(
        "scatter_reduce",
        lambda x: x.scatter_reduce(
            1, torch.tensor([[0, 0], [1, 1], [2, 2], [0, 1]]), x[:, :2], "amax"
        ),
        X,
    ),
    row("masked_scatter", lambda x: x.masked_scatter(x > 0, torch.arange(24.0)), X),
    row("assign", lambda x: _assigned(x), X),
    row("mask assign", lambda x: _mask_assigned(x), X),
    row("one_hot", lambda x: F.one_hot(x, 6), IDS),
    row("embedding", lambda x: F.embedding(x, torch.arange(12.0).reshape(6, 2)), IDS),
    row(
        "diagonal",
        lambda x: (x.diagonal(), torch.diag(x[0]), torch.diag_embed(x), x.trace()),
        X[:, :4].contiguous(),
    ),
    row(
        "tril triu",
        lambda x: (x.tril(), x.triu(1), torch.tril_indices(3, 3), torch.triu_indices(3, 3)),
        X,
    ),
    row(
        "select_scatter",
        lambda x: (torch.select_scatter(x, x[0], 0, 1), torch.slice_scatter(x, x[:2], 0, 1, 3)),
        X,
    ),
    row("diagonal_scatter", lambda x: torch.diagonal_scatter(x, torch.zeros(4)), X),
]


def _assigned(x: torch.Tensor) -> torch.Tensor:
    y = x.clone()
    y[0] = 1.0
    y[:, 2:4] += 2.0
    y[torch.tensor([1, 2]), torch.tensor([0, 1])] = 7.0
    return y


def _mask_assigned(x: torch.Tensor) -> torch.Tensor:
    y = x.clone()
    y[y > 0] = 0.0
    return y


SHAPES: list[Row] = [
    row(
        "views",
        lambda x: (x.view(2, 12), x.reshape(-1), x.flatten(), x.t(), x.mT, x.unflatten(1, (2, 3))),
        X,
    ),
    row(
        "permutes",
        lambda x: (x.permute(2, 0, 1), x.transpose(0, 2), x.movedim(0, -1), x.swapaxes(0, 1)),
        BATCH,
    ),
    row("squeeze", lambda x: (x.unsqueeze(1).squeeze(), x[:1].squeeze(0), x[None]), X),
    row(
        "cat stack",
        lambda x: (
            torch.cat([x, x], 1),
            torch.stack([x, x]),
            torch.hstack([x, x]),
            torch.dstack([x, x]),
        ),
        X,
    ),
    row(
        "split chunk",
        lambda x: (x.split(2), x.chunk(2, 1), x.unbind(), x.tensor_split(3, 1), x.hsplit(2)),
        X,
    ),
    row(
        "repeat tile expand",
        lambda x: (x.repeat(2, 1), x.tile(2), x[:1].expand(3, 6), x.repeat_interleave(2, 0)),
        X,
    ),
    row(
        "repeat_interleave tensor",
        lambda x: x.repeat_interleave(torch.tensor([1, 2, 0, 1]), 0, output_size=4),
        X,
    ),
    row("flip roll rot90", lambda x: (x.flip(0), x.fliplr(), x.roll(1, 1), torch.rot90(x)), X),
    row("unfold", lambda x: x.unfold(1, 3, 2), X),
    row("as_strided", lambda x: x.as_strided((3, 2), (2, 1)), X),
    row(
        "pads",
        lambda x: (
            F.pad(x, (1, 2)),
            F.pad(x, (-1, 1)),
            F.pad(x, (1, 1, 2, 2), "reflect"),
            F.pad(x, (1, 1, 1, 1), "circular"),
        ),
        IMAGE,
    ),
    row("meshgrid", lambda x: torch.meshgrid(x[0], x[1], indexing="xy"), X),
    row(
        "cartesian_prod combinations",
        lambda x: (torch.cartesian_prod(x[0], x[1]), torch.combinations(x[0])),
        X,
        is_exported=False,
    ),
    row("block_diag", lambda x: torch.block_diag(x, x), X),
    row("broadcast", lambda x: torch.broadcast_tensors(x, x[:1]), X),
    row(
        "creation",
        lambda x: (
            x + torch.arange(6),
            torch.linspace(0, 1, 5),
            torch.logspace(0, 1, 4),
            torch.eye(3),
            torch.full((2,), 3),
        ),
        X,
    ),
    row(
        "windows",
        lambda x: (x * torch.hann_window(6), torch.hamming_window(6), torch.kaiser_window(6)),
        X,
    ),
    row("vander", lambda x: torch.vander(x[0]), X),
    row(
        "dtypes",
        lambda x: (x.half(), x.double(), x.int(), x.bool(), x.bfloat16(), x.to(torch.uint8)),
        X.abs(),
    ),
    row(
        "grid_sample",
        lambda x: F.grid_sample(x, torch.zeros(2, 4, 4, 2), align_corners=False),
        IMAGE,
    ),
    row(
        "affine_grid",
        lambda t: F.affine_grid(t, (2, 3, 4, 4), align_corners=False),
        numbers(2, 2, 3),
    ),
    row(
        "interpolate",
        lambda x: (F.interpolate(x, size=5), F.interpolate(x, scale_factor=0.5, mode="area")),
        IMAGE,
    ),
    row(
        "interpolate antialias",
        lambda x: F.interpolate(x, size=(5, 5), mode="bilinear", antialias=True),
        IMAGE,
    ),
    row(
        "interpolate bicubic antialias",
        lambda x: F.interpolate(x, size=(5, 5), mode="bicubic", antialias=True),
        IMAGE,
    ),
]

ATTENTION: list[Row] = [
    row("sdpa", lambda x: F.scaled_dot_product_attention(x, x, x), IMAGE),
    row("sdpa causal", lambda x: F.scaled_dot_product_attention(x, x, x, is_causal=True), IMAGE),
    row(
        "sdpa masked",
        lambda x: F.scaled_dot_product_attention(x, x, x, attn_mask=torch.ones(8, 8).tril() > 0),
        IMAGE,
    ),
    row("rope real", lambda x: _rope_real(x), numbers(2, 5, 8)),
    row("rope complex", lambda x: _rope_complex(x), numbers(2, 5, 8)),
    row("gumbel_softmax", lambda x: F.gumbel_softmax(x), X, is_random=True),
    row("normalize", lambda x: (F.normalize(x), F.layer_norm(x, (6,)), F.rms_norm(x, (6,))), X),
    row("dropout eval", lambda x: F.dropout(x, 0.5, False), X),
]


def _rope_real(x: torch.Tensor) -> torch.Tensor:
    angles = torch.outer(torch.arange(5.0), 1.0 / 100 ** (torch.arange(0, 8, 2) / 8))
    even, odd = x[..., ::2], x[..., 1::2]
    return torch.stack(
        [even * angles.cos() - odd * angles.sin(), even * angles.sin() + odd * angles.cos()], -1
    ).flatten(-2)


def _rope_complex(x: torch.Tensor) -> torch.Tensor:
    angles = torch.outer(torch.arange(5.0), 1.0 / 100 ** (torch.arange(0, 8, 2) / 8))
    turns = torch.polar(torch.ones_like(angles), angles)
    pairs = torch.view_as_complex(x.float().reshape(*x.shape[:-1], -1, 2))
    return torch.view_as_real(pairs * turns).flatten(-2)


RANDOM: list[Row] = [
    row("rand", lambda x: x + torch.rand(4, 6), X, is_random=True),
    row("rand_like", lambda x: (torch.rand_like(x), torch.randn_like(x)), X, is_random=True),
    row("randint", lambda x: torch.randint(0, 5, (4,)) + x[:, 0], X, is_random=True),
    row("randperm", lambda x: x[torch.randperm(4)], X, is_random=True),
    row("bernoulli", lambda x: torch.bernoulli(x), X.sigmoid(), is_random=True),
    row("multinomial", lambda x: torch.multinomial(x, 1), X.softmax(-1), is_random=True),
    row("multinomial several", lambda x: torch.multinomial(x, 3), X.softmax(-1), is_random=True),
    row(
        "multinomial replacement",
        lambda x: torch.multinomial(x, 9, True),
        X.softmax(-1),
        is_random=True,
    ),
    row("normal", lambda x: torch.normal(x, 1.0), X, is_random=True),
    row("dropout training", lambda x: F.dropout(x, 0.5, True), X, is_random=True),
    row("exponential", lambda x: torch.empty_like(x).exponential_(), X, is_random=True),
]

FAMILIES = {
    "sorting": SORTING,
    "reductions": REDUCTIONS,
    "elementwise": ELEMENTWISE,
    "indexing": INDEXING,
    "shapes": SHAPES,
    "attention": ATTENTION,
    "random": RANDOM,
}
