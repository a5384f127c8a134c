# SPDX-License-Identifier: BSD-3-Clause
"""Sizes of scratch memory in bytes, as CMSIS-NN's kernels ask for them: upstream's runtime wants these of a program.
Our own kernels need none of it."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from enum import IntEnum
from typing import Any


class Backend(IntEnum):
    """Sets of instructions: Helium, the DSP extension, neither."""

    MVE = 0
    DSP = 1
    SCALAR = 2


class CortexM(IntEnum):
    M0 = 0
    M0PLUS = 1
    M3 = 2
    M4 = 3
    M7 = 4
    M23 = 5
    M33 = 6
    M35P = 7
    M55 = 8
    M85 = 9


class DataType(IntEnum):
    A8W4 = 0
    A8W8 = 1
    A16W8 = 2


def instruction_sets(core: str) -> tuple[Backend, ...]:
    """The best first."""
    if core in ("M55", "M85"):
        return (Backend.MVE, Backend.DSP, Backend.SCALAR)
    if core in ("M4", "M7", "M33", "M35P"):
        return (Backend.DSP, Backend.SCALAR)
    return (Backend.SCALAR,)


def resolve_backend(core: CortexM) -> Backend:
    return instruction_sets(core.name)[0]


Size = Sequence[int]


def _of_int8(function: Callable[..., int]) -> Callable[..., int]:
    """`function(backend, data_type, ...)`, of int8 alone; the numbers of quantization change no size."""

    def sized(backend: Backend, data_type: DataType, **arguments: Any) -> int:
        if data_type != DataType.A8W8:
            raise ValueError(
                f"invalid Backend/DataType combination: backend={int(backend)} data_type={int(data_type)}"
            )
        for name in ("input_offset", "output_offset", "activation_min", "activation_max"):
            arguments.pop(name, None)
        return function(backend, **arguments)

    sized.__name__, sized.__doc__ = function.__name__, function.__doc__
    return sized


def _columns(backend: Backend, taps: int) -> int:
    """Of an image whose windows are laid out as columns."""
    return 64 * -(-taps // 16) if backend is Backend.MVE else 4 * -(-taps // 4) * 4


@_of_int8
def convolve_wrapper_buffer_size(
    backend: Backend,
    *,
    input_nhwc: Size,
    filter_nhwc: Size,
    output_nhwc: Size,
    padding_hw: Size,
    stride_hw: Size,
    dilation_hw: Size,
) -> int:
    channels, (kernel_h, kernel_w, depth) = input_nhwc[3], filter_nhwc[1:]
    other = _columns(backend, kernel_w * kernel_h * channels)
    is_plain = tuple(dilation_hw) == (1, 1) and channels == depth
    if is_plain and (kernel_h, kernel_w) == (1, 1) and tuple(padding_hw) == (0, 0):
        return 0
    is_row = input_nhwc[1] == kernel_h == 1 and (stride_hw[1] * channels) % 4 == 0
    if not (is_plain and is_row) or backend is not Backend.MVE:
        return other
    return _row_size(input_nhwc, kernel_w, output_nhwc[2], padding_hw[1], stride_hw[1], other)


def _row_size(
    input_nhwc: Size, kernel: int, width: int, padding: int, stride: int, other: int
) -> int:
    """Of a convolution along one row by Helium: of its ends, which read padding."""
    channels = input_nhwc[3]
    total = (width - 1) * stride + kernel - input_nhwc[2]
    uneven = abs(total) % 2 * (1 if total > 0 else -1)
    ends = [
        max(1, (amount + stride - 1) // stride) if amount else 0
        for amount in (padding + uneven, padding)
    ]
    if max(width - sum(ends), 0) + sum(ends) != width:
        return other
    right = ends[0] * channels if uneven else padding * channels
    return max(kernel * channels + padding * channels, (kernel - 1) * channels + right)


@_of_int8
def depthwise_conv_wrapper_buffer_size(
    backend: Backend,
    *,
    input_nhwc: Size,
    filter_nhwc: Size,
    output_nhwc: Size,
    padding_hw: Size,
    stride_hw: Size,
    dilation_hw: Size,
    ch_mult: int,
) -> int:
    channels, outputs = input_nhwc[3], output_nhwc[3]
    kernel_h, kernel_w = filter_nhwc[1:3]
    taps = kernel_h * kernel_w
    if channels == outputs and input_nhwc[0] == 1 and tuple(dilation_hw) == (1, 1):
        if backend is Backend.MVE:
            return 4 * 124 * taps
        is_small = (kernel_h, kernel_w) == (3, 3) and max(padding_hw) <= 1
        return 2 * channels * taps if backend is Backend.DSP and not is_small else 0
    if channels == 1 and outputs > 1 and backend is Backend.MVE:
        return _columns(backend, taps) + outputs * taps
    return 0


def _is_reversed(channels: int, stride_hw: Size) -> bool:
    """Whether a transposed convolution runs as a convolution of the turned weights."""
    return max(stride_hw) <= 2 and channels > 16


@_of_int8
def transpose_conv_buffer_size(
    backend: Backend,
    *,
    input_nhwc: Size,
    filter_nhwc: Size,
    output_nhwc: Size,
    padding_hw: Size,
    stride_hw: Size,
    dilation_hw: Size = (1, 1),
    padding_offsets_hw: Size = (0, 0),
) -> int:
    kernel_h, kernel_w = filter_nhwc[1:3]
    if _is_reversed(input_nhwc[3], stride_hw):
        return _columns(backend, kernel_w * kernel_h * input_nhwc[3])
    width = (input_nhwc[2] - 1) * stride_hw[1] + max(kernel_w, stride_hw[0])
    return 4 * output_nhwc[3] * width * max(kernel_h, stride_hw[0])


@_of_int8
def transpose_conv_reverse_conv_buffer_size(
    backend: Backend,
    *,
    input_nhwc: Size,
    filter_nhwc: Size,
    padding_hw: Size,
    stride_hw: Size,
    dilation_hw: Size = (1, 1),
    padding_offsets_hw: Size = (0, 0),
) -> int:
    if not _is_reversed(input_nhwc[3], stride_hw):
        return 0
    return input_nhwc[3] * filter_nhwc[1] * filter_nhwc[2] * filter_nhwc[0]


@_of_int8
def fully_connected_buffer_size(backend: Backend, *, filter_nhwc: Size) -> int:
    return 4 * filter_nhwc[3] if backend is Backend.MVE else 0


@_of_int8
def avgpool_buffer_size(backend: Backend, *, dim_dst_width: int, ch_src: int) -> int:
    return 4 * ch_src if backend is Backend.DSP else 0
