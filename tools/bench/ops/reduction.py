# SPDX-License-Identifier: BSD-3-Clause
"""Operators that work along dimensions: reductions, scans, orders, norms."""

from __future__ import annotations

from collections.abc import Iterator

import torch

from tools.bench.ops.case import SIZES, Case, line, matrix, nchw, shape_of

_BY_DIM = ("amax", "amin", "argmax", "argmin", "cumsum", "mean")
# Beside the squares of SIZES: attention's rows, and few long ones.
_SHAPES = ((12 * 128, 128), (64, 4096))


def _along(x: torch.Tensor, dim: int) -> Iterator[Case]:
    label = f"{shape_of(x)} dim {dim}"
    yield Case("_softmax.out", label, (x, dim, False))
    yield Case("_log_softmax.out", label, (x, dim, False))
    for name in _BY_DIM:
        lists = name in ("amax", "amin", "mean")
        yield Case(f"{name}.out", label, (x, [dim] if lists else dim))
    yield Case("sum.IntList_out", label, (x, [dim]))
    yield Case("max.dim_max", label, (x, dim))
    yield Case("min.dim_min", label, (x, dim))
    yield Case("any.out", label, (x > 2, dim))
    yield Case("any.dims_out", label, (x > 2, [dim]))
    yield Case("prod.int_out", label, (x, dim))
    yield Case("var.out", label, (x, [dim]))
    yield Case("var.correction_out", label, (x, [dim]))
    yield Case("var_mean.correction_out", label, (x, [dim]))


def _to_one(n: int) -> Iterator[Case]:
    x, label = line(n), f"{n} to one"
    yield Case("any.all_out", label, (x < 0,))
    yield Case("max.unary_out", label, (x,))
    yield Case("min.unary_out", label, (x,))
    yield Case("prod.out", label, (x,))
    yield Case("sum.IntList_out", label, (x, None))
    yield Case("mean.dtype_out", label, (x,))


def _orders(n: int) -> Iterator[Case]:
    x = matrix(n)
    distinct = torch.argsort(torch.rand(x.shape), dim=1).float()  # one order only
    yield Case("sort.values", shape_of(x), (distinct,))
    yield Case("topk.values", f"{shape_of(x)} k8", (x, 8))
    yield Case("glu.out", shape_of(x), (x,))


def _norms(n: int) -> Iterator[Case]:
    x = matrix(n)
    width = x.shape[1]
    scale = (torch.randn(width), torch.randn(width))
    yield Case("native_layer_norm.out", shape_of(x), (x, [width], *scale, 1e-5))
    x = nchw(n)
    channels, plane = x.shape[1], x.shape[2] * x.shape[3]
    w, label = torch.rand(channels), shape_of(x)
    stats = (w.clone(), w.clone())
    yield Case("_native_batch_norm_legit_no_training.out", label, (x, w, w, *stats, 0.1, 1e-5))
    yield Case("_native_batch_norm_legit.out", label, (x, w, w, *stats, False, 0.1, 1e-5))
    yield Case("_native_batch_norm_legit.no_stats_out", label, (x, w, w, True, 0.1, 1e-5))
    yield Case("native_group_norm.out", label, (x, w, w, 1, channels, plane, 4, 1e-5))


def _norm_gradients(n: int) -> Iterator[Case]:
    x = matrix(n)
    width, rows = x.shape[1], torch.rand(x.shape[0], 1)
    scale, every = (torch.randn(width), torch.randn(width)), [True, True, True]
    arguments = (torch.randn_like(x), x, [width], rows, rows, *scale, every)
    yield Case("native_layer_norm_backward.out", shape_of(x), arguments)
    x = nchw(n)
    channels, plane, groups = x.shape[1], x.shape[2] * x.shape[3], torch.rand(1, 4)
    sizes = (1, channels, plane, 4)
    arguments = (torch.randn_like(x), x, groups, groups, torch.rand(channels), *sizes, every)
    yield Case("native_group_norm_backward.out", shape_of(x), arguments)


def _transforms(n: int) -> Iterator[Case]:
    x = matrix(n)
    width = x.shape[1]
    yield Case("_fft_r2c.out", shape_of(x), (x, [1], 0, True))
    spectrum = torch.fft.rfft(x)
    yield Case("_fft_c2r.out", shape_of(x), (spectrum, [1], 2, width))
    yield Case("_fft_c2c.out", shape_of(spectrum), (spectrum, [1], 0, True))


def cases() -> Iterator[Case]:
    for n in SIZES:
        for dim in (-1, 0):
            yield from _along(matrix(n), dim)
        yield from _to_one(n)
        yield from _orders(n)
        yield from _norms(n)
        yield from _norm_gradients(n)
        yield from _transforms(n)
    for shape in _SHAPES:
        for dim in (-1, 0):
            yield from _along(torch.randn(shape), dim)
    for rows, n in ((1, 1009), (64, 514), (256, 1009)):  # lengths with a large prime factor
        x = torch.randn(rows, n)
        yield Case("_fft_r2c.out", f"{rows}x{n}", (x, [1], 0, True))
        yield Case("_fft_c2c.out", f"{rows}x{n}", (torch.complex(x, x), [1], 0, True))
    yield Case("mean.out", "planes of 320x14x14", (torch.randn(1, 320, 14, 14), [-1, -2], True))
    x, w = torch.randn(197, 768), torch.randn(768)
    yield Case("native_layer_norm.out", "197x768", (x, [768], w, w, 1e-5))
