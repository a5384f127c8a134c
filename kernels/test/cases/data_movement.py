# SPDX-License-Identifier: BSD-3-Clause
"""Views, joins, conversions, creation, indexing: operators that move elements."""

from __future__ import annotations

import functools

import torch

from kernels.test.op_case import (
    BF16,
    BOOL,
    F16,
    F32,
    FLOATS,
    I32,
    I64,
    INF,
    NAN,
    REALS,
    U8,
    Case,
    case,
    t,
    vals,
)


def _views() -> list[Case]:
    cases = []
    for dtype in [F32, I64, BOOL, F16]:
        x = t(3, 4, 5, dtype=dtype)
        cases += [
            case("permute_copy.out", x, [2, 0, 1]), case("permute_copy.out", x, [0, -1, 1]),
            case("transpose_copy.int_out", x, 0, -1), case("t_copy.out", t(4, 5, dtype=dtype)),
            case("view_copy.out", x, [4, -1]), case("unsqueeze_copy.out", x, -1), case("flip.out", x, [0, 2]),
            case("expand_copy.out", t(3, 1, 5, dtype=dtype), [2, 3, 4, -1]), case("repeat.out", x, [2, 1, 3, 2]),
            case("slice_copy.Tensor_out", x, 1, 1, 100, 2), case("slice_copy.Tensor_out", x, -1, -3, -1),
            case("select_copy.int_out", x, 1, -1), case("narrow_copy.out", x, 2, 1, 3),
            case("cat.out", [x, t(3, 2, 5, dtype=dtype)], 1), case("stack.out", [x, x], -1),
            case("split_copy.Tensor_out", x, 2, 1), case("split_with_sizes_copy.out", x, [1, 3], 1),
            case("unbind_copy.int_out", x, 1), case("squeeze_copy.dim_out", t(3, 1, 2, dtype=dtype), 1),
            case("squeeze_copy.dims_out", t(1, 3, 1, dtype=dtype), [0, 1]), case("clone.out", x),
            case("alias_copy.out", x), case("detach_copy.out", x), case("lift_fresh_copy.out", x),
            case("copy.out", x, t(4, 1, dtype=dtype)), case("copy_", x, t(5, dtype=dtype)),
            case("diagonal_copy.out", x, 1, 0, 2), case("diagonal_copy.out", x, -1, 1, 0),
            case("unfold_copy.out", x, 1, 2, 1), case("as_strided_copy.out", x, [2, 3], [5, 2], 4),
            case("roll.out", x, [1, -2], [0, 2]), case("roll.out", x, [7]),
            case("tril.out", x), case("tril.out", x, -1),
            case("tril.out", x, 2), case("select_scatter.out", x, t(3, 5, dtype=dtype), 1, 2),
            case("slice_scatter.out", x, t(3, 2, 5, dtype=dtype), 1, 0, 4, 2),
            case("constant_pad_nd.out", x, [1, 2, 0, 3], 1), case("constant_pad_nd.out", x, [-1, 2, 1, -2]),
        ]  # fmt: skip
    big = t(2, 64, 30, 31)
    cases += [
        case("permute_copy.out", big, [0, 2, 3, 1]), case("permute_copy.out", big, [3, 2, 1, 0]),
        case("permute_copy.out", t(), []), case("flip.out", big, [3]), case("view_copy.out", t(0, 4), [2, 0]),
        case("cat.out", [t(3, 4), t(0), t(2, 4)], 0), case("cat.out", [t(2), t(2, dtype=I32)], 0),
        case("view_copy.out", t(2, 3, 4, 5, channels_last=True), [6, 20]), case("expand_copy.out", t(), [3]),
        case("pixel_shuffle.out", t(2, 12, 3, 4), 2), case("pixel_unshuffle.out", t(2, 3, 6, 4), 2),
        case("view_as_real_copy.out", t(3, 4, dtype=torch.complex64)),
        case("view_as_complex_copy.out", t(3, 4, 2)), case("view_as_complex_copy.out", t(2)),
        case("view_as_complex_copy.out", t(3, 0, 2, dtype=torch.float64)),
        case("_conj_physical.out", t(3, 4, dtype=torch.complex64)),
        case("_conj_physical.out", t(3, 4, dtype=torch.complex128)),
        case("repeat.out", t(2), [0, 3]), case("select_copy.int_out", big, 1, 5),
        case("permute_copy.out", t(2, 3, 4, 5, channels_last=True), [1, 0, 2, 3]),
        case("constant_pad_nd.out", t(2, 3, 4, 5), [1, 1, 2, 2], 0.5),
        case("copy.out", t(3, 4), t(4, dtype=I32)), case("copy_", t(3, dtype=I32), t(3)),
        case("clone.out", t(2, 3, 4, 5, channels_last=True)),
    ]  # fmt: skip
    for n, pad in ((1, [1, 2]), (2, [1, 2, 0, 3]), (3, [1, 2, 0, 3, 2, 1]),
                   (1, [-1, 2]), (2, [2, -1, -2, 0]), (3, [-1, 1, 2, -2, -1, -1])):  # fmt: skip
        shape = [2, 3, 4, 5, 6][: n + 2]
        for mode in ("reflection", "replication"):
            cases.append(case(f"{mode}_pad{n}d.out", t(*shape), pad))
            cases.append(case(f"{mode}_pad{n}d.out", t(*shape[1:], dtype=F16), pad))
    return cases


def _conversions() -> list[Case]:
    cases = []
    for source in [*REALS, BOOL]:
        for target in [*REALS, BOOL]:
            x = t(3, 7, dtype=source, low=0 if target == U8 else -9, high=9)
            for op in ("_to_copy.out", "dim_order_ops::_to_dim_order_copy.out"):
                cases.append(case(op, x, reference=lambda x, to=target: x.to(to)))
    x = t(2, 3, 4, 5)
    last = torch.channels_last
    cases += [
        case("dim_order_ops::_clone_dim_order.out", x, dim_order=[0, 2, 3, 1],
             reference=lambda x: x.contiguous(memory_format=last)),
        case("dim_order_ops::_to_dim_order_copy.out", x, dim_order=[0, 2, 3, 1],
             reference=lambda x: x.to(F16, memory_format=last)),
        case("dim_order_ops::_clone_dim_order.out", x, reference=lambda x: x.clone()),
        case("et_copy::_h2d_copy.out", x, reference=lambda x: x.clone()),
        case("et_copy::_d2h_copy.out", x, reference=lambda x: x.clone()),
    ]  # fmt: skip
    return cases


def _creation() -> list[Case]:
    cases = []
    for dtype in [F32, I64, BOOL, F16, U8]:
        cases += [
            case("full.out", [2, 3], 1, reference=lambda d=dtype: torch.full([2, 3], 1, dtype=d)),
            case("full_like.out", t(4, dtype=dtype), 1, reference=lambda x: torch.full_like(x, 1)),
            case("ones.out", [3], reference=lambda d=dtype: torch.ones(3, dtype=d)),
            case("zeros.out", [3, 0, 2], reference=lambda d=dtype: torch.zeros(3, 0, 2, dtype=d)),
            case("zeros.out", [300], reference=lambda d=dtype: torch.zeros(300, dtype=d)),
            case("scalar_tensor.out", 1, reference=lambda d=dtype: torch.scalar_tensor(1, dtype=d)),
            case("fill.Scalar_out", t(3, 4, dtype=dtype), 1),
            case("fill.Tensor_out", t(3, 4, dtype=dtype), t(dtype=dtype)),
        ]  # fmt: skip
    x = t(3, 4, low=1, high=2)
    cases += [
        case("native_dropout.out", x, 0.5, False),
        case("native_dropout.out", x, 1.0, True),
        case("full.out", [], -2.5, reference=lambda: torch.full([], -2.5)),
        case("full.out", [2], -INF, reference=lambda: torch.full([2], -INF)),
        case("arange.out", 7, reference=lambda: torch.arange(7)),
        case("arange.out", 4.5, reference=lambda: torch.arange(4.5)),
        case("arange.start_out", 2, 11, 3, reference=lambda: torch.arange(2, 11, 3)),
        case("arange.start_out", 5, -2, -2, reference=lambda: torch.arange(5, -2, -2)),
        case("arange.start_out", 0.5, 3, 0.5, reference=lambda: torch.arange(0.5, 3, 0.5)),
    ]
    for dtype in [I64, I32, U8]:
        for ends in [(2.1, -2.9, -1.0), (0.1, -7.9, -4.0), (0.5, 5.5, 1.5), (1.9, 4.1, 1)]:
            from_ends = functools.partial(torch.arange, *ends, dtype=dtype)
            cases.append(case("arange.start_out", *ends, reference=from_ends))
    return cases


def _accumulating() -> list[Case]:
    """Rows, columns and single numbers that are added to, some of them twice, longer than what is added at once."""
    cases = []
    i = vals(0, 2, 0, 1, dtype=I64)
    for dtype in [F32, F16, I64, I32]:
        x = t(3, 5, 150, dtype=dtype)
        cases += [
            case("index_put.out", x, [i], t(4, 5, 150, dtype=dtype), True),
            case("index_put.out", x, [i], t(4, 1, 150, dtype=dtype), True),
            case("index_put_", x, [i, i], t(4, 1, dtype=dtype), True),
            case("index_put.out", x, [None, None, i], t(3, 5, 4, dtype=dtype), True),
            case("index_put.out", x, [None, i, i], t(3, 4, dtype=dtype), True),
            case("index_put.out", x, [i, None, i], t(4, 5, dtype=dtype), True),
        ]
    return cases


def _on_threads() -> list[Case]:
    """So many numbers that threads share them: rows of all widths that go in one copy, few rows of many numbers."""
    cases = []
    many, narrow = t(4000, dtype=I64, low=-40, high=40), t(40, 100, dtype=I32, low=0, high=41)
    for dtype, width in (
        (U8, 1),
        (F16, 1),
        (F32, 1),
        (I64, 1),
        (F32, 4),
        (F32, 8),
        (F32, 16),
        (F32, 45),
    ):
        x, rows = t(41, width, dtype=dtype), t(4000, width, dtype=dtype)
        cases += [
            case("index.Tensor_out", x, [many]), case("embedding.out", x, narrow),
            case("index_select.out", t(width, 41, dtype=dtype), 1, t(4000, dtype=I32, low=0, high=41)),
            case("index_put.out", x, [many], rows, True, rtol=2e-2, atol=5e-2),
        ]  # fmt: skip
    few, wide, pair = vals(3, 0, -1, dtype=I64), t(5, 3, 7001), t(5, 9, 7)
    both = [t(4000, 1, dtype=I64, low=0, high=5), t(8, dtype=I32, low=-9, high=9)]
    cases += [
        case("index.Tensor_out", t(40, 3, 90), [many, None]), case("index.Tensor_out", pair, both),
        case("index_put.out", pair, both, t(4000, 8, 1), True, rtol=1e-3, atol=1e-2),
        case("index_put.out", t(41, 45), [t(4000, dtype=I64, low=7, high=9)], t(4000, 45), True, rtol=1e-3, atol=1e-2),
        case("index.Tensor_out", wide, [few]), case("index.Tensor_out", wide, [None, None, few]),
        case("index_put.out", wide, [few], t(3, 3, 7001), True), case("index_put_", wide, [few], t(3, 7001)),
        case("index_copy.out", wide, 0, vals(3, 0, 2, dtype=I64), t(3, 3, 7001)),
        case("index_select.out", wide, 1, vals(1, 2, dtype=I32)),
    ]  # fmt: skip
    odd = vals(NAN, INF, -INF, 0.0, NAN, 1.0, INF, -INF, shape=(4, 2))
    cases += [
        case("index.Tensor_out", odd, [few]), case("index_put.out", odd, [few], t(3, 2), True),
        case("index_put.out", t(4, 2), [vals(1, 1, 0, 1, dtype=I64)], odd, True),
    ]  # fmt: skip
    for way in ("sum", "mean", "amin"):
        index = t(4000, 45, dtype=I64, low=0, high=40)
        args = (t(41, 45), 0, index, t(4000, 45), way)
        cases.append(case("scatter_reduce.two_out", *args, rtol=1e-3, atol=1e-3))
    return cases


def _indexing() -> list[Case]:
    cases = []
    i = t(4, dtype=I64, low=0, high=3)
    for dtype in [F32, F16, I64, BOOL]:
        x = t(3, 5, 6, dtype=dtype)
        weight = t(9, 6, dtype=dtype)
        cases += [
            case("embedding.out", weight, t(2, 7, dtype=I64, low=0, high=9)),
            case("embedding.out", weight, t(4, dtype=I32, low=0, high=9)),
            case("index_select.out", x, 1, t(7, dtype=I64, low=0, high=5)), case("index_select.out", x, 0, i),
            case("index.Tensor_out", x, [i]), case("index.Tensor_out", x, [None, t(2, 3, dtype=I64, low=-5, high=5)]),
            case("index.Tensor_out", x, [i, None, i]), case("index.Tensor_out", x, [i, i, i]),
            case("index.Tensor_out", x, [t(2, 1, dtype=I64, low=0, high=3), t(3, dtype=I64, low=0, high=5)]),
            case("index.Tensor_out", x, [vals(1, 0, 1, dtype=BOOL)]),
            case("index.Tensor_out", x, [t(3, 5, dtype=BOOL)]), case("index.Tensor_out", x, [t(3, 5, 6, dtype=BOOL)]),
            case("index.Tensor_out", x, [None, t(5, 6, dtype=BOOL)]),
            case("index.Tensor_out", x, [t(3, 5, dtype=BOOL), vals(2, dtype=I64)]),
            case("index_put.out", x, [t(3, 5, 6, dtype=BOOL)], t(1, dtype=dtype)),
            case("index_put_", x, [t(3, 5, dtype=BOOL)], t(6, dtype=dtype)),
            case("index_put.out", x, [i], t(4, 5, 6, dtype=dtype)) if dtype == BOOL else
            case("index_put.out", x, [vals(0, 2, dtype=I64)], t(5, 6, dtype=dtype)),
            case("index_put.out", x, [None, vals(0, 3, dtype=I64), None], t(3, 2, 6, dtype=dtype)),
            case("index_put.out", x, [None, None, vals(5, 0, dtype=I64)], t(2, dtype=dtype)),
            case("index_put_", x, [vals(0, 2, dtype=I64), vals(1, 4, dtype=I64)], t(2, 6, dtype=dtype)),
            case("gather.out", x, 1, t(3, 2, 6, dtype=I64, low=0, high=5)),
            case("gather.out", x, 2, t(2, 4, 3, dtype=I64, low=0, high=6)),
            case("scatter.src_out", x, 1, vals(4, 1, 0, dtype=I64, shape=(1, 3, 1)), x),
            case("scatter.value_out", x, 0, vals(2, 0, dtype=I64, shape=(1, 2, 1)), 1),
            case("masked_fill.Scalar_out", x, t(5, 1, dtype=BOOL), 1),
            case("masked_scatter.out", x, t(5, 6, dtype=BOOL), t(100, dtype=dtype)),
            case("masked_select.out", x, t(3, 5, 6, dtype=BOOL)), case("masked_select.out", x, t(6, dtype=BOOL)),
            case("nonzero.out", t(3, 4, dtype=dtype, low=-1, high=2)),
        ]  # fmt: skip
        cases += [
            case("index_copy.out", x, 1, vals(2, 0, dtype=I64), t(3, 2, 6, dtype=dtype)),
            case("index_copy.out", x, -1, vals(5, 5, dtype=I64), t(3, 5, 2, dtype=dtype)),
            case("index_copy.out", t(dtype=dtype), 0, vals(0, dtype=I64), t(1, dtype=dtype)),
        ]
        if dtype != BOOL:
            cases.append(
                case("scatter_add.out", x, 1, t(3, 4, 6, dtype=I64, low=0, high=5), x, rtol=1e-2)
            )
            for way in ("sum", "prod", "mean", "amax", "amin"):
                for own in (True, False):
                    args = (x, 1, t(3, 4, 6, dtype=I64, low=0, high=5), x, way)
                    options = {"include_self": own, "rtol": 2e-2, "atol": 1e-2}
                    cases.append(case("scatter_reduce.two_out", *args, **options))
            cases.append(case("index_put.out", x, [i], t(4, 5, 6, dtype=dtype), True, rtol=1e-2))
    x, narrow = t(4, 300), t(4, 290, dtype=I32, low=0, high=4)
    for dim in (0, 1):
        cases += [
            case("gather.out", x, dim, narrow), case("scatter.value_out", x, dim, narrow, 2),
            case("scatter_add.out", x, dim, narrow, x, rtol=1e-4, atol=1e-4),
            case("scatter_reduce.two_out", x, dim, narrow, x, "amax"),
        ]  # fmt: skip
    for k, dim, largest in ((3, -1, True), (2, 0, False), (5, 1, True)):
        cases.append(
            case(
                "topk.values",
                t(4, 7, low=-100, high=100),
                min(k, 4 if dim == 0 else 7),
                dim,
                largest,
            )
        )
    cases += [
        case("topk.values", vals(1, NAN, 3, 2), 2), case("topk.values", t(), 0),
        case("repeat_interleave.Tensor_out", vals(1, 0, 3, 2, dtype=I64)),
        case("nonzero.out", t()), case("embedding.out", t(9, 0), i), case("gather.out", t(3), 0, vals(2, 0, dtype=I64)),
        case("index.Tensor_out", t(3, 40, 50), [None, t(9, dtype=I64, low=0, high=40)]),
    ]  # fmt: skip
    for dtype in (F16, BF16):  # 16 bits that are added in 16 bits stop growing: at 256 and 2,048
        ones, start = vals(*[1.0] * 5000, dtype=dtype), vals(1.0, dtype=dtype)
        cases += [
            case("scatter_add.out", start, 0, vals(*[0] * 5000, dtype=I64), ones),
            case("scatter_reduce.two_out", start, 0, vals(*[0] * 5000, dtype=I64), ones, "sum"),
            case("scatter_reduce.two_out", start, 0, vals(*[0] * 5000, dtype=I64), ones, "mean"),
        ]
    return cases


def _bags() -> list[Case]:
    cases = []
    at = vals(1, 2, 4, 5, 4, 3, 2, 9, dtype=I64)
    offsets = vals(0, 4, 4, dtype=I64)
    for dtype in FLOATS:
        w = t(10, 5, dtype=dtype)
        for mode in (0, 1, 2):
            for last in (False, True):
                for padding in (-1, 2):
                    starts = vals(0, 3, 8, dtype=I64) if last else offsets
                    args = (w, at, starts, False, mode, False, None, last, padding)
                    cases.append(case("_embedding_bag.out", *args))
        args = (w, at, offsets, False, 0, False, t(8, dtype=dtype))
        cases.append(case("_embedding_bag.out", *args))
        for options in ([-1, False], [4, True]):
            for index in (t(3, 4, dtype=I64, low=0, high=7), t(12, dtype=I32, low=0, high=7)):
                grad = t(*index.shape, 6, dtype=dtype)
                cases.append(case("embedding_dense_backward.out", grad, index, 8, *options))
    cases.append(
        case(
            "_embedding_bag.out",
            t(10, 3),
            vals(1, 1, 1, dtype=I32),
            vals(0, 2, dtype=I32),
            False,
            1,
        )
    )
    return cases


CASES: list[Case] = [
    *_views(),
    *_conversions(),
    *_creation(),
    *_indexing(),
    *_accumulating(),
    *_on_threads(),
    *_bags(),
]
