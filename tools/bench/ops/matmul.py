# SPDX-License-Identifier: BSD-3-Clause
"""Matmuls, and distances between rows."""

from __future__ import annotations

from collections.abc import Iterator

import torch

from tools.bench.ops.case import Case

# Rows, summed dimension, columns.
_SHAPES = (
    (64, 512, 512),
    (256, 256, 256),
    (1024, 1024, 1024),
    (128, 1024, 256),
    (1, 1280, 1000),
    (16, 16, 16),
)
# Batch, then as above: attention, many small ones.
_BATCHES = ((12, 128, 64, 128), (12, 128, 128, 64), (8, 197, 64, 197), (64, 16, 16, 16))
_LOW = (torch.bfloat16, torch.float16)


def cases() -> Iterator[Case]:
    for m, k, n in _SHAPES:
        a, b, w = torch.randn(m, k), torch.randn(k, n), torch.randn(n, k)
        bias = torch.randn(n)
        shape = f"{m}x{k}x{n}"
        yield Case("mm.out", shape, (a, b))
        yield Case("addmm.out", shape, (bias, a, b))
        yield Case("linear.out", shape, (a, w, bias))
        for dtype in _LOW:
            name = f"{shape} {dtype}".replace("torch.", "")
            yield Case("mm.out", name, (a.to(dtype), b.to(dtype)))
            yield Case("linear.out", name, (a.to(dtype), w.to(dtype), bias.to(dtype)))
        narrow = (torch.randint(-128, 128, s, dtype=torch.int8) for s in ((m, k), (k, n)))
        yield Case("_int_mm.out", shape, tuple(narrow))
    a, b = torch.randn(64, 512), torch.randn(512, 512)
    bias = torch.randn(512)
    yield Case("addmm.out", "alpha 2", (bias, a, b), {"alpha": 2})
    for dtype in _LOW:
        name = f"alpha 2 {dtype}".replace("torch.", "")
        yield Case("addmm.out", name, (bias.to(dtype), a.to(dtype), b.to(dtype)), {"alpha": 2})
    yield Case("linear.out", "4x512x512", (torch.randn(4, 512), torch.randn(512, 512), None))
    for batch, m, k, n in _BATCHES:
        pair = (torch.randn(batch, m, k), torch.randn(batch, k, n))
        yield Case("bmm.out", f"{batch}x{m}x{k}x{n}", pair)
    yield from _attention()
    for rows, columns in ((32, 16), (128, 64), (512, 64)):
        x, y = torch.randn(rows, columns), torch.randn(rows, columns)
        for p in (2.0, 1.0):
            yield Case("_cdist_forward.out", f"{rows}x{columns} p {p:g}", (x, y, p, None))
            yield Case("_pdist_forward.out", f"{rows}x{columns} p {p:g}", (x, p))


def _attention() -> Iterator[Case]:
    op = "scaled_dot_product_attention.out"
    for heads, queries, keys, depth in ((12, 128, 128, 64), (8, 512, 512, 64), (32, 1, 1024, 64)):
        q, k, v = (torch.randn(1, heads, n, depth) for n in (queries, keys, keys))
        shape = f"{heads}x{queries}x{keys}x{depth}"
        yield Case(op, shape, (q, k, v))
        if queries > 1:
            yield Case(op, f"{shape} causal", (q, k, v, None, 0.0, True))
        for dtype in _LOW:
            name = f"{shape} {dtype}".replace("torch.", "")
            yield Case(op, name, tuple(x.to(dtype) for x in (q, k, v)))
