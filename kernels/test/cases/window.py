# SPDX-License-Identifier: BSD-3-Clause
"""Pools, resizing, blocks of images, Fourier transforms."""

from __future__ import annotations

import itertools

import torch

from kernels.test.op_case import BF16, F16, F32, F64, I32, I64, U8, Case, Input, case, t


def _pools() -> list[Case]:
    cases = []
    for x in [
        t(2, 3, 11, 13),
        t(3, 11, 13),
        t(2, 3, 11, 13, channels_last=True),
        t(2, 3, 11, 13, dtype=F16),
    ]:
        cases += [
            case("max_pool2d_with_indices.out", x, [3, 3], [2, 2], [1, 1]),
            case("max_pool2d_with_indices.out", x, [2, 3], [2, 1], [0, 1], [2, 1], True),
            case("max_pool2d_with_indices.out", x, [2, 2]),
            case("avg_pool2d.out", x, [3, 3], [2, 2], [1, 1]), case("avg_pool2d.out", x, [2, 3]),
            case("avg_pool2d.out", x, [3, 2], [2, 2], [1, 0], True, False),
            case("avg_pool2d.out", x, [3, 3], [2, 2], [1, 1], True, True, 5),
            case("_adaptive_avg_pool2d.out", x, [1, 1]), case("_adaptive_avg_pool2d.out", x, [4, 5]),
            case("_adaptive_avg_pool2d.out", x, [0, 2]),
        ]  # fmt: skip
    for x in (t(2, 3, 17), t(3, 17), t(2, 3, 17, dtype=F64)):
        cases += [
            case("avg_pool1d.out", x, [3], [2], [1]), case("avg_pool1d.out", x, [4], [3], [2], True, False),
            case("adaptive_avg_pool1d.out", x, [5]), case("adaptive_avg_pool1d.out", x, [20]),
        ]  # fmt: skip
    for x in (t(2, 3, 5, 7, 6), t(3, 5, 7, 6), t(1, 2, 5, 7, 6, dtype=F64)):
        cases += [
            case("avg_pool3d.out", x, [3, 3, 2], [2, 2, 1], [1, 1, 0]), case("avg_pool3d.out", x, [2]),
            case("avg_pool3d.out", x, [3, 2, 2], [2], [1], True, False, None),
            case("avg_pool3d.out", x, [2, 2, 2], [2], [0], False, True, 3),
            case("_adaptive_avg_pool3d.out", x, [2, 3, 4]), case("_adaptive_avg_pool3d.out", x, [1, 1, 1]),
            case("max_pool3d_with_indices.out", x, [3, 3, 2], [2, 2, 1], [1, 1, 0]),
            case("max_pool3d_with_indices.out", x, [2], [2], [1], [2, 1, 2], True),
        ]  # fmt: skip
    cases.append(case("avg_pool2d.out", t(2, 6, 6, dtype=I64, low=-9, high=9), [2, 3]))
    for dtype in (F32, F64, F16):
        x = t(2, 3, 7, 9, dtype=dtype)
        cases += [
            case("_adaptive_avg_pool2d_backward.out", t(2, 3, 4, 5, dtype=dtype), x),
            case("avg_pool2d_backward.grad_input", t(2, 3, 4, 5, dtype=dtype), x, [3, 3], [2, 2], [1, 1],
                 False, True, None),
            case("avg_pool2d_backward.grad_input", t(2, 3, 3, 8, dtype=dtype), x, [3, 2], [2, 1], [0, 0],
                 False, False, 5),
        ]  # fmt: skip
    cases.append(
        case("max_pool2d_with_indices.out", t(1, 2, 6, 6, dtype=I32, low=-9, high=9), [2, 2])
    )
    # Overlapping windows add up; every index is one that lies in the input.
    for grad in (t(2, 3, 3, 4), t(3, 3, 4), t(2, 3, 3, 4, dtype=F64)):
        x = Input((*grad.shape[:-2], 7, 9), grad.dtype)
        at = Input(grad.shape, I64, low=0, high=63)
        tail = [[3, 3], [2, 2], [0, 0], [1, 1], False, at]
        cases.append(case("max_pool2d_with_indices_backward.grad_input", grad, x, *tail))
    return cases


def _resizing() -> list[Case]:
    cases = []
    byte_image = t(2, 3, 23, 31, dtype=U8, low=0, high=256)
    # Several vectors of columns or of channels, and what they leave.
    for wide in (t(1, 2, 5, 45), t(1, 37, 3, 5, channels_last=True)):
        for size in ([7, 90], [5, 50], [4, 45], [9, 41], [3, 19], [2, 5], [1, 1]):
            for align in (False, True):
                cases.append(case("upsample_bilinear2d.vec_out", wide, size, align, None))
        cases.append(case("upsample_bilinear2d.vec_out", wide, None, False, [1.5, 3.7]))
    for x in [
        t(2, 3, 5, 6),
        t(2, 3, 5, 6, channels_last=True),
        t(1, 2, 4, 4, dtype=F16),
        byte_image,
    ]:
        cases += [
            case("upsample_nearest2d.vec_out", x, [7, 11], None),
            case("upsample_nearest2d.vec_out", x, None, [2.0, 1.5]),
            case("upsample_nearest2d.vec_out", x, None, [1.02, 1.03]),  # sizes that stay
            case("upsample_nearest2d.vec_out", x, None, [1.02, 2.0]),
            case("upsample_bilinear2d.vec_out", x, [7, 11], False, None),
            case("upsample_bilinear2d.vec_out", x, [7, 11], True, None),
            case("upsample_bilinear2d.vec_out", x, None, False, [2.0, 1.5]),
            case("upsample_bilinear2d.vec_out", x, None, False, [2.0, 1.02]),
            case("upsample_bilinear2d.vec_out", x, None, False, [1.02, 1.03]),
            case("upsample_bilinear2d.vec_out", x, [3, 3], False, None),
        ]  # fmt: skip
        if x.dtype != F16:  # which eager has not
            cases += [
                case("_upsample_bilinear2d_aa.out", x, [7, 11], False),
                case("_upsample_bilinear2d_aa.out", x, [2, 3], True),
                case("_upsample_bilinear2d_aa.out", x, [2, 2], False, scales_h=0.4, scales_w=0.35),
                case("_upsample_bilinear2d_aa.out", x, [x.shape[2], 3], False, scales_h=0.3),
            ]  # fmt: skip
        if x.dtype == U8:  # no samples of bytes at points
            continue
        points = t(x.shape[0], 3, 7, 2, dtype=x.dtype, low=-1.6, high=1.6)
        for mode, padding, align in itertools.product(range(3), range(3), (False, True)):
            cases.append(
                case(
                    "grid_sampler_2d.out",
                    x,
                    points,
                    mode,
                    padding,
                    align,
                    atol=3e-2 if x.dtype == F16 else 1e-4,
                )
            )
    return cases


def _blocks() -> list[Case]:
    cases = []
    for dtype in (F32, F64, BF16):
        cases += [
            case("col2im.out", t(2, 12, 12, dtype=dtype), [4, 5], [2, 2], [1, 1], [0, 0], [1, 1]),
            case("col2im.out", t(18, 20, dtype=dtype), [7, 9], [3, 3], [1, 1], [1, 1], [2, 2]),
            case("col2im.out", t(1, 6, 9, dtype=dtype), [8, 5], [3, 1], [2, 1], [1, 0], [2, 2]),
        ]  # fmt: skip
    return cases


def _fourier() -> list[Case]:
    cases = []
    for dtype, pair in ((F32, torch.complex64), (F64, torch.complex128)):
        loose = {"rtol": 1e-4, "atol": 1e-4} if dtype == F32 else {"rtol": 1e-9, "atol": 1e-9}
        for n in (1, 2, 5, 8, 12, 31, 37, 64, 74, 97, 120):
            half = n // 2 + 1
            cases += [
                case("_fft_r2c.out", t(3, n, dtype=dtype), [1], 0, True, **loose),
                case("_fft_r2c.out", t(n, 2, dtype=dtype), [0], 1, False, **loose),
                case("_fft_c2r.out", t(3, half, dtype=pair), [1], 2, n, **loose),
                case("_fft_r2c.out", t(37, n, dtype=dtype), [1], 1, False, **loose),
                case("_fft_c2r.out", t(37, half, dtype=pair), [1], 0, n, **loose),
            ]
        cases += [
            case("_fft_r2c.out", t(3, 4, 6, dtype=dtype), [0, 2, 1], 2, True, **loose),
            case("_fft_c2r.out", t(3, 4, 6, dtype=pair), [0, 1, 2], 1, 10, **loose),
            case("_fft_r2c.out", t(2, 3, 4, 6, dtype=dtype, channels_last=True), [1, 3], 0, True, **loose),
            case("_fft_c2c.out", t(3, 37, dtype=pair), [1], 2, False, **loose),
            case("_fft_c2c.out", t(35, 38, dtype=pair), [1], 0, True, **loose),
            case("_fft_c2c.out", t(2, 42, 19, dtype=pair), [1], 1, False, **loose),
            case("_fft_c2c.out", t(2, 16, 20, dtype=pair), [0, 1, 2], 2, False, **loose),
            case("_fft_c2c.out", t(3, 4, 6, dtype=pair), [0, 2], 1, True, **loose),
        ]  # fmt: skip
    return cases


CASES: list[Case] = [*_pools(), *_resizing(), *_blocks(), *_fourier()]
