# SPDX-License-Identifier: BSD-3-Clause
"""Operators that move elements or make them: views made real, joins, selections, constants."""

from __future__ import annotations

from collections.abc import Iterator

import torch

from tools.bench.ops.case import SIZES, Case, line, matrix, nchw, shape_of


def _rearranged(x: torch.Tensor, label: str) -> Iterator[Case]:
    rows, columns = x.shape
    heads = x.view(1, -1, 4, columns // 4)
    yield Case("permute_copy.out", f"{label} last two", (x, [1, 0]))
    yield Case("permute_copy.out", f"{label} heads", (heads, [0, 2, 1, 3]))
    yield Case("transpose_copy.int_out", f"{label} heads", (heads, 2, 3))
    yield Case("t_copy.out", label, (x,))
    for name in ("clone", "alias_copy", "detach_copy", "lift_fresh_copy"):
        yield Case(f"{name}.out", label, (x,))
    yield Case("view_copy.out", label, (x, [-1]))
    yield Case("unsqueeze_copy.out", label, (x, 0))
    yield Case("squeeze_copy.dim_out", label, (x[None], 0))
    yield Case("squeeze_copy.dims_out", label, (x[None], [0]))
    yield Case("view_as_real_copy.out", label, (torch.complex(x, x),))
    yield Case("as_strided_copy.out", label, (x, [columns, rows], [1, columns], 0))
    yield Case("flip.out", f"{label} last", (x, [1]))
    yield Case("roll.out", label, (x, [3], [1]))
    yield Case("roll.out", f"{label} flat", (x, [5], []))
    yield Case("tril.out", label, (x,))
    yield Case("copy.out", label, (x, torch.randn_like(x)))
    for dtype in (torch.float16, torch.int32, torch.int64):
        yield Case("_to_copy.out", f"{label} to {dtype}"[:40], (x,), {"dtype": dtype})


def _parts(x: torch.Tensor, label: str) -> Iterator[Case]:
    rows, columns = x.shape
    yield Case("slice_copy.Tensor_out", f"{label} columns", (x, 1, 0, columns // 2))
    yield Case("select_copy.int_out", f"{label} middle", (x.view(rows, 4, -1), 1, 2))
    yield Case("narrow_copy.out", label, (x, 0, 1, rows // 2))
    yield Case("diagonal_copy.out", label, (x,))
    yield Case("split_copy.Tensor_out", f"{label} in 4", (x, columns // 4, 1))
    sizes = [columns // 4, columns - columns // 4]
    yield Case("split_with_sizes_copy.out", f"{label} in 2", (x, sizes, 1))
    yield Case("unbind_copy.int_out", f"{label} in 4", (x.view(rows, 4, -1), 1))
    yield Case("slice_scatter.out", label, (x, x[: rows // 2].clone(), 0, 0, rows // 2))
    yield Case("select_scatter.out", label, (x, x[0].clone(), 0, 1))


def _joined(x: torch.Tensor, label: str) -> Iterator[Case]:
    pair = [x, torch.randn_like(x)]
    for dim in (0, 1):
        yield Case("cat.out", f"{label} dim {dim}", (pair, dim))
        yield Case("stack.out", f"{label} dim {dim}", (pair, dim))
    yield Case("repeat.out", f"{label} 2x2", (x, [2, 2]))
    yield Case("expand_copy.out", f"{label} rows", (x[:, :1].clone(), list(x.shape)))
    times = torch.randint(0, 3, (x.numel(),))
    yield Case("repeat_interleave.Tensor_out", label, (times,))


def _chosen(x: torch.Tensor, label: str) -> Iterator[Case]:
    rows, columns = x.shape
    ids = torch.randint(0, rows, (rows,))
    places = torch.randint(0, columns, (rows, columns))
    apart = torch.argsort(torch.rand(rows, columns), dim=1)  # no place twice: the result is defined
    yield Case("embedding.out", label, (x, ids))
    yield Case("index_select.out", label, (x, 0, ids))
    yield Case("index_select.out", f"{label} columns", (x, 1, ids % columns))
    yield Case("index.Tensor_out", f"{label} rows", (x, [ids]))
    yield Case("index.Tensor_out", f"{label} columns", (x, [None, ids]))
    some = torch.randperm(rows)[: rows // 2]
    yield Case("index_put.out", f"{label} rows", (x, [some], x[: rows // 2].clone()))
    yield Case("index_put.out", f"{label} rows added", (x, [some], x[: rows // 2].clone(), True))
    yield Case("gather.out", label, (x, 1, places))
    yield Case("scatter.src_out", label, (x, 1, apart, torch.randn_like(x)))
    yield Case("scatter.value_out", label, (x, 1, places, 2.0))
    yield Case("scatter_add.out", label, (x, 1, places, torch.randn_like(x)))
    yield Case("scatter_reduce.two_out", label, (x, 1, places, torch.randn_like(x), "amax"))
    yield Case("index_copy.out", label, (x, 0, some, x[: rows // 2].clone()))
    for mode, name in enumerate(("sum", "mean", "max")):
        bags = (x, ids, torch.arange(0, rows, 4), False, mode)
        yield Case("_embedding_bag.out", f"{label} {name}", bags)
    yield Case("embedding_dense_backward.out", label, (torch.randn_like(x), ids, rows, -1, False))
    yield Case("masked_select.out", label, (x, x > 0))
    yield Case("masked_scatter.out", label, (x, x > 0, torch.randn_like(x)))
    yield Case("nonzero.out", label, (x > 0,))


def _made(n: int) -> Iterator[Case]:
    label = f"{n}"
    yield Case("full.out", label, ([n], 1.5))
    yield Case("full_like.out", label, (line(n), 1.5))
    yield Case("fill.Scalar_out", label, (line(n), 1.5))
    yield Case("fill.Tensor_out", label, (line(n), torch.tensor(1.5)))
    yield Case("ones.out", label, ([n],))
    yield Case("zeros.out", label, ([n],))
    yield Case("arange.out", label, (n,))
    yield Case("arange.start_out", label, (0.0, float(n), 1.0))
    yield Case("rand.out", label, ([n],), random=True)
    yield Case("randn.out", label, ([n],), random=True)


def cases() -> Iterator[Case]:
    for n in SIZES:
        x = matrix(n)
        for family in (_rearranged, _parts, _joined, _chosen):
            yield from family(x, shape_of(x))
        yield from _made(n)
        x = nchw(n)
        yield Case("permute_copy.out", f"{shape_of(x)} to NHWC", (x, [0, 2, 3, 1]))
    ids = torch.randint(0, 5000, (128,))
    yield Case("embedding.out", "128 of 5000x768", (torch.randn(5000, 768), ids))
