# SPDX-License-Identifier: BSD-3-Clause
"""Attention, matmuls, convolutions and their gradients, distances."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

import torch

from kernels.test.op_case import (
    BF16,
    BOOL,
    F16,
    F32,
    F64,
    FLOATS,
    I8,
    I16,
    I32,
    I64,
    INF,
    U8,
    Case,
    Input,
    case,
    t,
    vals,
)


def _attention() -> list[Case]:
    """Sizes around tiles, blocks of keys and blocks of queries; every kind of mask."""
    op = "scaled_dot_product_attention.out"
    cases = []
    for dtype in FLOATS:
        near: dict[str, Any] = {"rtol": 2e-2, "atol": 2e-2}
        if dtype in (F32, F64):
            near = {"rtol": 1e-4, "atol": 1e-5}

        def make(*shape: int, dtype: torch.dtype = dtype) -> Input:
            return t(*shape, dtype=dtype)

        q, k, v = make(2, 4, 9, 20), make(2, 4, 13, 20), make(2, 4, 13, 7)
        allowed, added = t(9, 13, dtype=BOOL), make(2, 1, 9, 13)
        cases += [
            case(op, q, k, v, **near), case(op, q, k, v, is_causal=True, **near),
            case(op, q, k, v, allowed, **near), case(op, q, k, v, added, scale=0.3, **near),
            case(op, q, k, v, t(2, 4, 1, 13, dtype=BOOL), **near), case(op, q, k, v, make(9, 1), **near),
            case(op, q, make(2, 2, 13, 20), make(2, 2, 13, 7), enable_gqa=True, **near),
            case(op, make(3, 70, 32), make(3, 200, 32), make(3, 200, 64), is_causal=True, **near),
            case(op, make(2, 1, 33), make(2, 401, 33), make(2, 401, 48), **near),
            case(op, make(5, 8), make(6, 8), make(6, 8), **near),
            case(op, make(2, 3, 0, 4), make(2, 3, 5, 4), make(2, 3, 5, 4), **near),
        ]  # fmt: skip
        if dtype != F64:
            large = make(1, 2, 300, 40), make(1, 2, 260, 40), make(1, 2, 260, 40)
            cases.append(case(op, *large, t(300, 260, dtype=BOOL), **near))
            cases.append(case(op, *large, make(300, 260), **near))
    permuted = [t(2, 3, 5, 8, permuted=(0, 2, 1, 3)) for _ in range(3)]
    cases.append(case(op, *permuted))
    forbidden = vals(*(4 * [0.0] + 4 * [1.0]), dtype=BOOL, shape=(2, 4))
    cases.append(case(op, t(1, 2, 8), t(1, 4, 8), t(1, 4, 8), forbidden))
    return cases


def _narrow_matmuls() -> list[Case]:
    """Sizes around words, vectors, tiles and blocks of the 8- and 16-bit matmuls."""
    cases = []
    for m, k, n in ((1, 1, 1), (3, 7, 5), (9, 64, 49), (17, 33, 100), (30, 1030, 70), (2, 0, 3)):
        a, b = t(m, k, dtype=I8, low=-128, high=128), t(k, n, dtype=I8, low=-128, high=128)
        cases += [case("_int_mm.out", a, b), case("_int_mm.out", a, replace(b, permuted=(1, 0)))]
        for low, high in ((-128, -128), (-128, 127), (127, -128)):
            a, b = Input((m, k), I8, low, low), Input((k, n), I8, high, high)
            cases.append(case("_int_mm.out", a, b))
        bytes_ = t(m, k, dtype=U8, low=0, high=256)
        b = t(k, n, dtype=I8, low=-128, high=128)
        cases += [
            case("_int_mm.out", bytes_, b),
            case("_int_mm.out", bytes_, replace(b, permuted=(1, 0))),
        ]
        for dtype in (F16, BF16):
            loose: dict[str, Any] = {"atol": 0.05, "rtol": 2e-2 if dtype == BF16 else 4e-3}
            a, b, w = t(m, k, dtype=dtype), t(k, n, dtype=dtype), t(n, k, dtype=dtype)
            bias = t(n, dtype=dtype)
            cases += [
                case("mm.out", a, b, **loose),
                case("bmm.out", t(3, m, k, dtype=dtype), t(3, k, n, dtype=dtype), **loose),
                case("addmm.out", bias, a, b, **loose),
                case("addmm.out", t(m, n, dtype=dtype), a, b, **loose),
                case("addmm.out", t(m, 1, dtype=dtype), a, b, beta=2, alpha=0.5, **loose),
                case("addmm.out", t(m, n, dtype=dtype), a, b, beta=0, alpha=0.5, **loose),
            ]
            if k > 0:
                cases.append(case("linear.out", a, w, bias, **loose))
    return cases


def _matmul() -> list[Case]:
    cases = []
    for dtype in [F32, F64, F16, BF16, I64, I32]:
        a, b = t(5, 7, dtype=dtype), t(7, 9, dtype=dtype)
        cases += [
            case("mm.out", a, b), case("bmm.out", t(3, 5, 7, dtype=dtype), t(3, 7, 4, dtype=dtype)),
            case("addmm.out", t(9, dtype=dtype), a, b), case("addmm.out", t(5, 1, dtype=dtype), a, b, beta=2, alpha=3),
            case("addmm.out", t(5, 9, dtype=dtype), a, b, beta=0),
        ]  # fmt: skip
        if dtype.is_floating_point:
            cases.append(
                case("linear.out", t(2, 3, 7, dtype=dtype), t(9, 7, dtype=dtype), t(9, dtype=dtype))
            )
            cases.append(case("linear.out", t(3, 7, dtype=dtype), t(9, 7, dtype=dtype)))
    cases += [
        case("mm.out", t(65, 130), t(130, 300), rtol=1e-4, atol=1e-4),
        case(
            "mm.out", t(33, 20, permuted=(1, 0)), t(20, 40, permuted=(1, 0)), rtol=1e-4, atol=1e-4
        ),
        # Integers wrap around; sizes beyond a panel of their tiles, and rests.
        *(
            case("mm.out", t(m, k, dtype=d, low=0, high=99), t(k, n, dtype=d, low=0, high=99))
            for d in (I8, U8, I16, I32, I64)
            for m, k, n in ((7, 300, 75), (130, 33, 5), (1, 129, 64))
        ),
        *(
            case(
                "linear.out",
                t(2, 5, 33, dtype=d, low=-9),
                t(70, 33, dtype=d, low=-9),
                t(70, dtype=d),
            )
            for d in (I8, I32, I64)
        ),
        *(
            case(
                "addmm.out",
                t(*shape, dtype=I32),
                t(9, 20, dtype=I32, low=-99),
                t(20, 35, dtype=I32, low=-99),
            )
            for shape in ((35,), (9, 35), (9, 1))
        ),
        case("bmm.out", t(3, 70, 9, dtype=I64, low=-99), t(3, 9, 33, dtype=I64, low=-99)),
        case("mm.out", t(3, 0), t(0, 4)),
        case("mm.out", t(0, 3), t(3, 4)),
        case("bmm.out", t(0, 2, 3), t(0, 3, 2)),
        case("linear.out", t(1, 300), t(513, 300), t(513), rtol=1e-4, atol=1e-4),
        case("linear.out", t(7), t(9, 7), t(9)),
        case("addmm.out", t(300), t(17, 300), t(300, 300, permuted=(1, 0)), rtol=1e-4, atol=1e-4),
    ]
    return cases


def _convolution() -> list[Case]:
    cases = []
    rows = [
        (t(2, 3, 20), t(4, 3, 5), t(4), ([2], [2], [1], False, [0], 1)),
        (t(2, 4, 20), t(4, 1, 3), t(4), ([1], [1], [2], False, [0], 4)),
        (t(1, 3, 17, 19), t(8, 3, 3, 3), t(8), ([2, 2], [1, 1], [1, 1], False, [0, 0], 1)),
        (t(2, 6, 9, 11), t(6, 1, 3, 3), None, ([1, 2], [1, 0], [1, 2], False, [0, 0], 6)),
        (t(2, 6, 9, 11), t(4, 3, 3, 2), t(4), ([2, 1], [0, 1], [2, 1], False, [0, 0], 2)),
        (t(1, 5, 7, 7), t(9, 5, 1, 1), t(9), ([1, 1], [0, 0], [1, 1], False, [0, 0], 1)),
        (
            t(1, 2, 5, 6, 7),
            t(3, 2, 3, 2, 3),
            t(3),
            ([1, 2, 1], [1, 0, 1], [1, 1, 2], False, [0, 0, 0], 1),
        ),
        (t(2, 4, 6), t(4, 3, 3), t(3), ([2], [1], [1], True, [1], 1)),
        (t(2, 4, 5, 6), t(4, 3, 3, 3), t(6), ([2, 3], [1, 0], [1, 2], True, [1, 0], 2)),
        (
            t(1, 2, 3, 4, 5),
            t(2, 2, 2, 3, 2),
            None,
            ([1, 2, 1], [0, 1, 0], [1, 1, 1], True, [0, 0, 0], 1),
        ),
        # Several bands of channels, shifted rows, ends of vectors; filters turned around; padded rows left out.
        (t(1, 38, 4, 9, 11), t(14, 19, 3, 3, 3), t(14), ([2], [1], [1], False, [0], 2)),
        (t(1, 70, 13, 21), t(13, 70, 3, 3), t(13), ([1, 1], [1, 1], [1, 1], False, [0, 0], 1)),
        (t(2, 9, 11, 10), t(9, 5, 3, 4), None, ([1, 1], [2, 0], [1, 2], True, [0, 1], 3)),
        # Slices whose input is copied for several at a time, the last region with fewer.
        (t(1, 3, 9, 10, 40), t(5, 3, 3, 3, 3), t(5), ([1], [1], [1], False, [0], 1)),
        (t(2, 6, 11, 13, 14), t(6, 1, 5, 1, 1), None, ([2, 1, 1], [2, 0, 0], [1], False, [0], 6)),
        (t(1, 7, 13, 18, 17), t(7, 1, 3, 3, 3), t(7), ([1, 2, 2], [1], [1], False, [0], 7)),
        (t(2, 5, 8, 11, 33), t(5, 1, 5, 1, 1), t(5), ([1], [2, 0, 0], [1], False, [0], 5)),
        (t(1, 3, 7, 14, 47), t(3, 1, 3, 3, 5), t(3), ([1, 2, 2], [2, 1, 1], [1], False, [0], 3)),
        # Phases of equal and of unequal taps, cropped by padding, of three dimensions; more weights than positions.
        (t(1, 3, 9, 20), t(3, 4, 4, 4), t(4), ([2, 2], [1, 1], [1, 1], True, [0, 0], 1)),
        (t(2, 6, 7, 19), t(6, 2, 3, 3), t(4), ([2, 2], [1, 1], [1, 1], True, [1, 1], 2)),
        (t(1, 4, 40), t(4, 3, 16), t(3), ([8], [4], [1], True, [0], 1)),
        (t(1, 4, 13), t(4, 1, 10), None, ([4], [5], [1], True, [3], 1)),
        (t(1, 3, 4, 6, 9), t(3, 5, 3, 3, 3), t(5), ([2], [1], [1], True, [1], 1)),
        (t(1, 6, 3, 5, 8), t(6, 4, 2, 2, 2), t(4), ([2], [0], [1], True, [0], 1)),
        (
            t(1, 40, 2, 3, 3),
            t(40, 3, 3, 2, 3),
            t(3),
            ([2, 1, 3], [1], [1, 2, 1], True, [1, 0, 0], 1),
        ),
        (t(1, 24, 3, 3), t(24, 5, 4, 4), t(5), ([2, 2], [1, 1], [1, 1], True, [0, 0], 1)),
        (t(1, 20, 14, 15), t(17, 20, 3, 3), t(17), ([1, 1], [6, 5], [6, 5], False, [0, 0], 1)),
        (t(1, 5, 11, 30), t(5, 1, 7, 7), t(5), ([1, 1], [3, 3], [1, 1], False, [0, 0], 5)),
    ]
    for x, w, b, args in rows:
        cases.append(case("convolution.out", x, w, b, *args, rtol=1e-4, atol=1e-4))
    x, w, b, args = rows[2]
    for dtype in (F16, BF16, F64):
        row = [Input(i.shape, dtype) for i in (x, w, b)]
        cases.append(case("convolution.out", *row, *args, rtol=2e-2, atol=5e-2))
    last = t(2, 8, 9, 10, channels_last=True)
    cases.append(
        case(
            "convolution.out",
            last,
            t(4, 8, 3, 3, channels_last=True),
            t(4),
            *args,
            rtol=1e-4,
            atol=1e-4,
        )
    )
    cases.append(
        case(
            "convolution.out",
            last,
            t(8, 1, 3, 3),
            t(8),
            [1, 1],
            [1, 1],
            [1, 1],
            False,
            [0, 0],
            8,
            rtol=1e-4,
            atol=1e-4,
        )
    )
    for dtype in (I64, I32, I8):
        x = t(2, 4, 7, 6, dtype=dtype, low=-9, high=9)
        window = ([2, 1], [1, 0], [1, 1], False, [0, 0])
        cases.append(case("convolution.out", x, t(6, 2, 3, 2, dtype=dtype), None, *window, 2))
    return cases


def _gradients() -> list[Case]:
    """Convolution's gradient: output, input, weight and numbers of one convolution each."""
    rows = [
        ((2, 4, 5, 6), (2, 3, 7, 8), (4, 3, 3, 3), [1, 1], [0, 0], [1, 1], False, [0, 0], 1),
        ((2, 4, 4, 4), (2, 4, 7, 8), (4, 2, 3, 3), [2, 2], [1, 1], [1, 1], False, [0, 0], 2),
        ((1, 6, 3, 4), (1, 3, 7, 8), (6, 1, 3, 3), [1, 1], [0, 0], [2, 2], False, [0, 0], 3),
        ((2, 4, 5), (2, 3, 9), (4, 3, 3), [2], [1], [1], False, [0], 1),
        ((1, 2, 3, 3, 3), (1, 2, 4, 4, 4), (2, 2, 2, 2, 2), [1, 1, 1], [0, 0, 0], [1, 1, 1], False, [0, 0, 0], 1),
        ((2, 6, 9, 9), (2, 4, 4, 4), (4, 3, 3, 3), [2, 2], [0, 0], [1, 1], True, [0, 0], 2),
        ((1, 3, 8, 9), (1, 2, 4, 4), (2, 3, 3, 4), [2, 2], [1, 1], [1, 1], True, [1, 1], 1),
    ]  # fmt: skip
    cases = []
    for grad, x, weight, *numbers in rows:
        for dtype in (F32, F64):
            tensors = [t(*shape, dtype=dtype) for shape in (grad, x, weight)]
            cases.append(
                case(
                    "convolution_backward.out",
                    *tensors,
                    [grad[1]],
                    *numbers,
                    [True, True, True],
                    rtol=1e-4,
                    atol=1e-4,
                )
            )
    tensors = [t(*shape, channels_last=True) for shape in rows[0][:3]]
    cases.append(
        case(
            "convolution_backward.out",
            *tensors,
            [4],
            *rows[0][3:],
            [True, True, True],
            rtol=1e-4,
            atol=1e-4,
        )
    )
    return cases


def _distances() -> list[Case]:
    cases = []
    for p in (0.0, 1.0, 2.0, 3.0, INF):
        cases.append(
            case("_cdist_forward.out", t(2, 3, 5), t(2, 4, 5), p, None, rtol=1e-4, atol=1e-4)
        )
        cases.append(case("_pdist_forward.out", t(6, 5), p, rtol=1e-4, atol=1e-4))
    return cases


CASES: list[Case] = [
    *_attention(),
    *_narrow_matmuls(),
    *_matmul(),
    *_convolution(),
    *_gradients(),
    *_distances(),
]
