# SPDX-License-Identifier: BSD-3-Clause
"""Operators of images: pooling, resizing, padding, shuffling."""

from __future__ import annotations

from collections.abc import Iterator

import torch

from tools.bench.ops.case import SIZES, Case, matrix, ncdhw, nchw, shape_of


def _pools(x: torch.Tensor, label: str) -> Iterator[Case]:
    window = ([3, 3], [2, 2], [1, 1])
    yield Case("max_pool2d_with_indices.out", f"{label} k3 s2", (x, *window))
    yield Case("avg_pool2d.out", f"{label} k3 s2", (x, *window))
    for size in (1, 7):
        yield Case("_adaptive_avg_pool2d.out", f"{label} to {size}", (x, [size] * 2))
    pooled, indices = torch.ops.aten.max_pool2d_with_indices(x, *window)
    arguments = (torch.randn_like(pooled), x, *window, [1, 1], False, indices)
    yield Case("max_pool2d_with_indices_backward.grad_input", f"{label} k3 s2", arguments)
    arguments = (torch.randn_like(pooled), x, *window, False, True, None)
    yield Case("avg_pool2d_backward.grad_input", f"{label} k3 s2", arguments)
    yield Case("_adaptive_avg_pool2d_backward.out", label, (torch.randn(*x.shape[:2], 7, 7), x))
    blocks = torch.nn.functional.unfold(x, 3, padding=1, stride=2)
    arguments = (blocks, list(x.shape[2:]), [3, 3], [1, 1], [1, 1], [2, 2])
    yield Case("col2im.out", f"{label} k3 s2", arguments)


def _other_pools(n: int) -> Iterator[Case]:
    x = matrix(n)
    yield Case("avg_pool1d.out", f"{shape_of(x)} k3 s2", (x, [3], [2], [1]))
    yield Case("adaptive_avg_pool1d.out", f"{shape_of(x)} to 7", (x, [7]))
    x = ncdhw(n)
    window = ([3, 3, 3], [2, 2, 2], [1, 1, 1])
    yield Case("avg_pool3d.out", f"{shape_of(x)} k3 s2", (x, *window))
    yield Case("max_pool3d_with_indices.out", f"{shape_of(x)} k3 s2", (x, *window))
    yield Case("_adaptive_avg_pool3d.out", f"{shape_of(x)} to 3", (x, [3, 3, 3]))


def _resizes(x: torch.Tensor, label: str) -> Iterator[Case]:
    double = [2 * x.shape[2], 2 * x.shape[3]]
    half = [x.shape[2] // 2, x.shape[3] // 2]
    yield Case("upsample_nearest2d.vec_out", f"{label} x2", (x, double, None))
    yield Case("upsample_bilinear2d.vec_out", f"{label} x2", (x, double, False, None))
    yield Case("_upsample_bilinear2d_aa.out", f"{label} /2", (x, half, False))
    grid = torch.rand(1, x.shape[2], x.shape[3], 2) * 2 - 1
    yield Case("grid_sampler_2d.out", label, (x, grid, 0, 0, False))


def _pads(n: int) -> Iterator[Case]:
    for name, x in (("1d", matrix(n)), ("2d", nchw(n)), ("3d", ncdhw(n))):
        rank = int(name[0])
        for mode in ("reflection", "replication"):
            yield Case(f"{mode}_pad{name}.out", shape_of(x), (x, [1] * 2 * rank))
    x = nchw(n)
    yield Case("constant_pad_nd.out", shape_of(x), (x, [1] * 4))


def cases() -> Iterator[Case]:
    for n in SIZES:
        x = nchw(n)
        label = shape_of(x)
        yield from _pools(x, label)
        yield from _other_pools(n)
        yield from _resizes(x, label)
        yield from _pads(n)
        yield Case("pixel_shuffle.out", label, (x, 2))
        yield Case("pixel_unshuffle.out", label, (x, 2))
        yield Case("unfold_copy.out", f"{label} 4 by 2", (x, 3, 4, 2))
