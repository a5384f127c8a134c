# SPDX-License-Identifier: BSD-3-Clause
"""Reductions, sorting, normalizations and their gradients."""

from __future__ import annotations

import itertools
from collections.abc import Callable
from typing import Any

import torch

from kernels.test.op_case import (
    BF16,
    BOOL,
    F16,
    F32,
    F64,
    FLOATS,
    INF,
    INTS,
    NAN,
    REALS,
    SPECIAL,
    U8,
    Case,
    case,
    t,
    vals,
)


def _reduce() -> list[Case]:
    cases = []
    shapes = [
        t(3, 50),
        t(2, 3, 7, 7),
        t(2, 16, 6, 5, channels_last=True),
        t(40, 300),
        t(6, 4, 5, permuted=(1, 2, 0)),
    ]
    for x in shapes:
        for dims in ([0], [-1], [0, 1], []):
            for name in ("sum.IntList_out", "mean.out", "amax.out", "amin.out"):
                cases.append(case(name, x, dims, True, rtol=1e-4))
                cases.append(case(name, x, dims, rtol=1e-4))
        cases += [
            case("sum.IntList_out", x, None, rtol=1e-4),
            case("mean.dtype_out", x), case("prod.int_out", x, 0, rtol=1e-4),
            case("var.out", x, [0]), case("var.correction_out", x, [-1], correction=0), case("any.all_out", x),
            case("var_mean.correction_out", x, [0, 1], correction=1, keepdim=True), case("argmax.out", x, 0),
            case("var.correction_out", x), case("argmin.out", x, -1, True), case("argmax.out", x),
            case("max.dim_max", x, 0), case("min.dim_min", x, -1, True), case("max.unary_out", x),
            case("min.unary_out", x), case("cumsum.out", x, 0), case("cumsum.out", x, -1, rtol=1e-4),
        ]  # fmt: skip
    cases.append(case("mean.out", t(2, 3, 7, 7), [2, 3], True))
    for dtype in [F16, BF16, F64]:
        x = t(4, 33, dtype=dtype)
        for name in ("sum.IntList_out", "mean.out", "amax.out", "var.out"):
            cases.append(case(name, x, [1], rtol=2e-2 if dtype != F64 else None))
        cases += [
            case("prod.out", t(5, dtype=dtype)),
            case("max.dim_max", x, 0),
            case("cumsum.out", t(6, dtype=dtype), 0),
        ]
    for dtype in [*INTS, BOOL]:
        x = t(4, 9, dtype=dtype, low=0, high=9)
        cases += [
            case("sum.IntList_out", x, [1]), case("amax.out", x, [0]),
            case("any.out", x, 1), case("any.dims_out", x, [0]),
            case("prod.int_out", x, 1), case("max.dim_max", x, 1), case("min.unary_out", x), case("cumsum.out", x, 1),
            case("any.out", x, 0, True), case("any.dims_out", x),
        ]  # fmt: skip
        if dtype != BOOL:
            cases.append(case("argmin.out", x, 1))
    cases.append(case("sum.IntList_out", t(4, 9), [1], dtype=F64))
    cases.append(case("sum.IntList_out", t(0, 3), [0]))
    cases.append(case("mean.out", t(0, 3), [0]))
    cases.append(case("any.all_out", t(0, dtype=BOOL)))
    cases.append(case("argmax.out", vals(1, NAN, 3, NAN)))
    cases.append(case("max.dim_max", vals(1, NAN, 3, 4), 0))
    cases.append(case("amax.out", SPECIAL, [0]))
    cases += [
        case("sum.IntList_out", t(), [0]),
        case("argmax.out", t()),
        case("cumsum.out", t(), 0),
    ]
    return cases


def _stable(dim: int, descending: bool) -> Callable[..., Any]:
    """Equal values keep their order, which eager does not promise but the kernel does."""
    return lambda x: torch.sort(x, dim=dim, descending=descending, stable=True)


def _sorting() -> list[Case]:
    cases = []
    for dtype in [*REALS, BOOL]:
        for dim, descending in itertools.product((0, -1), (False, True)):
            x = t(5, 40, dtype=dtype, low=0 if dtype == U8 else -9, high=9)
            stable = _stable(dim, descending)
            cases.append(case("sort.values", x, dim, descending, reference=stable))
            cases.append(case("sort.values_stable", x, True, dim, descending, reference=stable))
    cases += [
        case("sort.values", SPECIAL, reference=_stable(0, False)),
        case("sort.values", SPECIAL, 0, True, reference=_stable(0, True)),
        case("sort.values", t()),
        case("sort.values", t(0, 3), 1), case("sort.values", t(2, 3, 4, 5, channels_last=True), 1),
    ]  # fmt: skip
    return cases


def _norms() -> list[Case]:
    cases = []
    for dtype in FLOATS:
        x = t(2, 6, 4, 5, dtype=dtype)
        c = t(6, dtype=dtype)
        positive = t(6, dtype=dtype, low=0.5, high=2)
        cases += [
            case("_softmax.out", x, -1, False),
            case("_softmax.out", x, 1, False), case("_log_softmax.out", x, 3, False),
            case("_log_softmax.out", x, 0, False),
            case("native_layer_norm.out", x, [4, 5], t(4, 5, dtype=dtype), t(4, 5, dtype=dtype), 1e-5),
            case("native_layer_norm.out", x, [5], None, None, 1e-3),
            case("native_group_norm.out", x, c, c, 2, 6, 20, 3, 1e-5),
            case("native_group_norm.out", x, None, None, 2, 6, 20, 2, 1e-5),
            case("_native_batch_norm_legit_no_training.out", x, c, c, c, positive, 0.1, 1e-5),
            case("_native_batch_norm_legit_no_training.out", x, None, None, c, positive, 0.1, 1e-5),
        ]  # fmt: skip
    # Integers in their own type: long lines, and blocks of columns.
    for dtype in (*INTS, BOOL):
        for x in (
            t(3, 7, 700, dtype=dtype, low=0, high=100),
            t(1 << 17, dtype=dtype, low=0, high=100),
        ):
            for dims in ([0], [-1], []):
                cases += [case(f"{name}.out", x, dims) for name in ("amax", "amin")]
                cases.append(case("sum.IntList_out", x, dims))
    cases += [
        case("var.correction_out", t(n, 40, low=900, high=901), [0], rtol=1e-3) for n in (1, 2, 77)
    ]
    # 16-bit floats, more than are converted at a time: lines of the last dimension, and across.
    for dtype in (F16, BF16):
        x, w = t(3, 150, 400, dtype=dtype), t(400, dtype=dtype)
        image, c = t(3, 6, 150, 150, dtype=dtype), t(6, dtype=dtype)
        positive = t(6, dtype=dtype, low=0.5, high=2)
        for dim in (0, 1, 2):
            cases += [case("_softmax.out", x, dim, False), case("_log_softmax.out", x, dim, False)]
            cases += [case(f"{name}.out", x, [dim]) for name in ("amax", "amin", "mean")]
            cases.append(case("sum.IntList_out", x, [dim], False, dtype=F32, rtol=1e-4, atol=1e-3))
        cases += [
            case("native_layer_norm.out", x, [400], w, w, 1e-5),
            case("native_layer_norm.out", x, [400], t(400), t(400), 1e-5) if dtype == BF16 else
            case("native_layer_norm.out", x, [150, 400], None, None, 1e-5),
            case("native_group_norm.out", image, c, c, 3, 6, 22500, 2, 1e-5),
            case("_native_batch_norm_legit_no_training.out", image, c, c, c, positive, 0.1, 1e-5),
        ]  # fmt: skip
    x = t(2, 6, 4, 5, channels_last=True)
    c, positive = t(6), t(6, low=0.5, high=2)
    cases += [
        case("_native_batch_norm_legit_no_training.out", x, c, c, c, positive, 0.1, 1e-5),
        case("_softmax.out", x, 1, False),
        case("_softmax.out", t(3, 700), 1, False), case("_softmax.out", t(), 0, False),
        case("_softmax.out", vals(-INF, 1, 2), 0, False), case("_softmax.out", t(2, 0), 1, False),
        case("_native_batch_norm_legit.no_stats_out", t(4, 6, 5), c, c, True, 0.1, 1e-5),
        case("_native_batch_norm_legit.no_stats_out", t(4, 6, 5), None, None, True, 0.1, 1e-5),
        case("native_layer_norm.out", t(3, 768), [768], t(768), t(768), 1e-12),
        case("native_layer_norm.out", t(3, 4, low=1000, high=1001), [4], None, None, 1e-5, rtol=1e-3, atol=2e-3),
        case("_native_batch_norm_legit.out", t(4, 6, 5), c, c, c, positive, True, 0.1, 1e-5),
        case("_native_batch_norm_legit.out", t(4, 6, 5), c, c, c, positive, False, 0.1, 1e-5),
    ]  # fmt: skip
    return cases


def _norm_gradients() -> list[Case]:
    cases = []
    everything = [True, True, True]
    for dtype in (F32, F64):
        loose = {"rtol": 1e-4, "atol": 1e-5} if dtype == F32 else {}
        for weight in (t(20, dtype=dtype), None):
            x, g = t(6, 20, dtype=dtype), t(6, 20, dtype=dtype)
            row = t(6, 1, dtype=dtype)
            shift = None if weight is None else weight
            mask = everything if weight is not None else [True, False, False]
            if weight is not None:
                args = (g, x, [20], row, row, weight, shift, mask)
                cases.append(case("native_layer_norm_backward.out", *args, **loose))
        cases.append(
            case(
                "native_layer_norm_backward.out", t(3, 4, 5, dtype=dtype), t(3, 4, 5, dtype=dtype), [4, 5],
                t(3, 1, 1, dtype=dtype), t(3, 1, 1, dtype=dtype), t(4, 5, dtype=dtype), t(4, 5, dtype=dtype),
                everything, **loose,
            )
        )  # fmt: skip
        x = t(2, 6, 3, 4, dtype=dtype)
        for group in (1, 2, 6):
            row = t(2, group, dtype=dtype)
            args = (x, x, row, row, t(6, dtype=dtype), 2, 6, 12, group, everything)
            cases.append(case("native_group_norm_backward.out", *args, **loose))
    return cases


CASES: list[Case] = [*_reduce(), *_sorting(), *_norms(), *_norm_gradients()]
