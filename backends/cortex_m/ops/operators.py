# SPDX-License-Identifier: BSD-3-Clause
"""`torch.ops.cortex_m`: the operators of operators.yaml as formulas. The kernels give the same bits.

Images are int8 [N, C, H, W] whose channels are last in memory; so are the results."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path

import torch
import torch.nn.functional as F
from torch import Tensor

from executorch.backends.cortex_m.ops.fixed_point import (
    SHIFT_INT8,
    requantize,
)
from executorch.backends.cortex_m.ops.fixed_point import (
    softmax as integer_softmax,
)
from executorch.exir.backend.lowering.kernels.formulas import (
    dequantize_per_tensor,
    quantize_per_tensor,
)
from executorch.exir.backend.lowering.kernels.library import KernelLibrary

LIBRARY = KernelLibrary("cortex_m", Path(__file__).with_name("operators.yaml"))


def _int8(x: Tensor, least: int = -128, largest: int = 127) -> Tensor:
    return x.clamp(least, largest).to(torch.int8)


# ---- float32 and back ----

LIBRARY.implement("quantize_per_tensor")(quantize_per_tensor)
LIBRARY.implement("dequantize_per_tensor")(dequantize_per_tensor)


# ---- By element ----


@LIBRARY.implement("quantized_add")
def quantized_add(
    self: Tensor,
    self_zero_point: int,
    self_multiplier: int,
    self_shift: int,
    other: Tensor,
    other_zero_point: int,
    other_multiplier: int,
    other_shift: int,
    output_zero_point: int,
    output_multiplier: int,
    output_shift: int,
    activation_min: int,
    activation_max: int,
) -> Tensor:
    own = (self.long() - self_zero_point) << SHIFT_INT8
    others = (other.long() - other_zero_point) << SHIFT_INT8
    total = requantize(own, self_multiplier, self_shift) + requantize(
        others, other_multiplier, other_shift
    )
    result = requantize(total, output_multiplier, output_shift) + output_zero_point
    return _as_larger(self, other, _int8(result, activation_min, activation_max))


def _as_larger(a: Tensor, b: Tensor, x: Tensor) -> Tensor:
    """In the memory order of the operand with more values."""
    return _as(max(a, b, key=lambda each: (each.numel(), each.dim())), x)


@LIBRARY.implement("quantized_mul")
def quantized_mul(
    self: Tensor,
    self_zero_point: int,
    other: Tensor,
    other_zero_point: int,
    output_zero_point: int,
    output_multiplier: int,
    output_shift: int,
) -> Tensor:
    product = (self.long() - self_zero_point) * (other.long() - other_zero_point)
    result = requantize(product, output_multiplier, output_shift) + output_zero_point
    return _as_larger(self, other, _int8(result))


@LIBRARY.implement("quantized_activation")
def quantized_activation(input: Tensor, lut: Tensor) -> Tensor:
    return _as(input, lut[input.long() + 128])


@LIBRARY.implement("minimum")
def minimum(self: Tensor, other: Tensor) -> Tensor:
    return torch.minimum(self, other)


@LIBRARY.implement("maximum")
def maximum(self: Tensor, other: Tensor) -> Tensor:
    return torch.maximum(self, other)


@LIBRARY.implement("softmax")
def softmax(
    input: Tensor,
    dim: int,
    input_zero_point: int,
    output_zero_point: int,
    input_multiplier: int,
    input_shift: int,
    diff_min: int,
) -> Tensor:
    rows = input.movedim(dim, -1)
    found = integer_softmax(rows, input_multiplier, input_shift, diff_min)
    return _as(input, found.movedim(-1, dim))


def _as(like: Tensor, x: Tensor) -> Tensor:
    """`x` in the memory order of `like`."""
    return torch.empty_like(like, dtype=x.dtype).copy_(x)


# ---- Matmuls. Sums of int8 products are exact in float64 ----


@LIBRARY.implement("quantized_linear")
def quantized_linear(
    input: Tensor,
    weights: Tensor,
    bias: Tensor | None,
    kernel_sum: Tensor | None,
    input_offset: int,
    filter_offset: int,
    output_offset: int,
    requantize_multipliers: Sequence[int],
    requantize_shifts: Sequence[int],
    activation_max: int,
    activation_min: int,
) -> Tensor:
    """`kernel_sum` has the input's offset and the bias in it."""
    offset = input_offset if kernel_sum is None else 0
    x, w = input.double() + offset, weights.double() + filter_offset
    total = (x @ w.t()).long()
    added = bias if kernel_sum is None else kernel_sum
    if added is not None:
        total = total + added.long().flatten()
    result = requantize(total, requantize_multipliers[0], requantize_shifts[0]) + output_offset
    return _int8(result, activation_min, activation_max)


@LIBRARY.implement("quantized_batch_matmul")
def quantized_batch_matmul(
    lhs: Tensor,
    lhs_zero_point: int,
    rhs_transposed: Tensor,
    rhs_zero_point: int,
    output_zero_point: int,
    output_multiplier: int,
    output_shift: int,
    scratch: Tensor,
) -> Tensor:
    """The zero points are the negated ones: they are added."""
    left, right = lhs.double() + lhs_zero_point, rhs_transposed.double() + rhs_zero_point
    total = (left @ right.transpose(1, 2)).long()
    return _int8(requantize(total, output_multiplier, output_shift) + output_zero_point)


# ---- Convolutions ----


def _image(x: Tensor) -> Tensor:
    return x.contiguous(memory_format=torch.channels_last)


def _convolved(
    x: Tensor,
    w: Tensor,
    bias: Tensor | None,
    stride: Sequence[int],
    padding: Sequence[int],
    dilation: Sequence[int],
) -> Tensor:
    """Sums of as many groups as the depth of the weights makes."""
    b = None if bias is None else bias.double()
    return F.conv2d(x, w, b, list(stride), list(padding), list(dilation), x.shape[1] // w.shape[1])


def _finish(
    total: Tensor, multipliers: Tensor, shifts: Tensor, offset: int, least: int, largest: int
) -> Tensor:
    per_channel = (each.view(1, -1, 1, 1) for each in (multipliers, shifts))
    return _image(_int8(requantize(total.long(), *per_channel) + offset, least, largest))


@LIBRARY.implement("quantized_conv2d")
def quantized_conv2d(
    input: Tensor,
    weight: Tensor,
    bias: Tensor | None,
    stride: Sequence[int],
    padding: Sequence[int],
    dilation: Sequence[int],
    input_offset: int,
    output_offset: int,
    requantize_multipliers: Tensor,
    requantize_shifts: Tensor,
    activation_min: int,
    activation_max: int,
    scratch: Tensor,
) -> Tensor:
    """`weight`: [O, H, W, I]."""
    x, w = input.double() + input_offset, weight.permute(0, 3, 1, 2).double()
    total = _convolved(x, w, bias, stride, padding, dilation)
    numbers = (requantize_multipliers, requantize_shifts, output_offset)
    return _finish(total, *numbers, activation_min, activation_max)


@LIBRARY.implement("quantized_depthwise_conv2d")
def quantized_depthwise_conv2d(
    input: Tensor,
    weight: Tensor,
    bias: Tensor | None,
    stride: Sequence[int],
    padding: Sequence[int],
    dilation: Sequence[int],
    depth_multiplier: int,
    input_offset: int,
    output_offset: int,
    requantize_multipliers: Tensor,
    requantize_shifts: Tensor,
    activation_min: int,
    activation_max: int,
    scratch: Tensor,
) -> Tensor:
    """`weight`: [1, H, W, O]."""
    x, w = input.double() + input_offset, weight.permute(3, 0, 1, 2).double()
    total = _convolved(x, w, bias, stride, padding, dilation)
    numbers = (requantize_multipliers, requantize_shifts, output_offset)
    return _finish(total, *numbers, activation_min, activation_max)


@LIBRARY.implement("quantized_transpose_conv2d")
def quantized_transpose_conv2d(
    input: Tensor,
    weight: Tensor,
    bias: Tensor | None,
    stride: Sequence[int],
    padding: Sequence[int],
    output_padding: Sequence[int],
    dilation: Sequence[int],
    input_offset: int,
    output_offset: int,
    requantize_multipliers: Tensor,
    requantize_shifts: Tensor,
    activation_min: int,
    activation_max: int,
    scratch: Tensor,
    output_scratch: Tensor,
) -> Tensor:
    """`weight`: [O, H, W, I]."""
    w = weight.permute(3, 0, 1, 2).double()
    x, b = input.double() + input_offset, None if bias is None else bias.double()
    sizes = (list(stride), list(padding), list(output_padding))
    total = F.conv_transpose2d(x, w, b, *sizes, 1, list(dilation))
    numbers = (requantize_multipliers, requantize_shifts, output_offset)
    return _finish(total, *numbers, activation_min, activation_max)


# ---- Pools ----


@LIBRARY.implement("quantized_avg_pool2d")
def quantized_avg_pool2d(
    input: Tensor,
    kernel_size: Sequence[int],
    stride: Sequence[int],
    padding: Sequence[int],
    zero_point: int,
    multiplier: int,
    shift: int,
    scratch: Tensor,
) -> Tensor:
    """The mean of what is not padded, halves away from zero. The last three numbers are not needed."""
    windows = {"kernel_size": list(kernel_size), "stride": list(stride), "padding": list(padding)}
    sums = F.avg_pool2d(input.double(), **windows, divisor_override=1).round().long()
    ones = torch.ones_like(input, dtype=torch.float64)
    counts = F.avg_pool2d(ones, **windows, divisor_override=1).round().long()
    half = torch.div(counts, 2, rounding_mode="trunc")
    nudged = sums + half * sums.sign()
    return _image(_int8(torch.div(nudged, counts, rounding_mode="trunc")))


@LIBRARY.implement("quantized_max_pool2d")
def quantized_max_pool2d(
    input: Tensor,
    kernel_size: Sequence[int],
    stride: Sequence[int],
    padding: Sequence[int],
    dilation: Sequence[int],
    ceil_mode: bool,
    input_zero_point: int,
    output_zero_point: int,
    activation_min: int,
    activation_max: int,
) -> Tensor:
    windows = (list(kernel_size), list(stride), list(padding), list(dilation), ceil_mode)
    return _image(_int8(F.max_pool2d(input.float(), *windows), activation_min, activation_max))


# ---- Moves ----


@LIBRARY.implement("transpose")
def transpose(input: Tensor, perm: Sequence[int]) -> Tensor:
    return input.permute(list(perm)).clone(memory_format=torch.contiguous_format)


def _order(x: Tensor) -> list[int]:
    """Dimensions as they lie in memory, the innermost last."""
    is_image = x.dim() == 4 and not x.is_contiguous()
    return [0, 2, 3, 1] if is_image else list(range(x.dim()))


@LIBRARY.implement("pad")
def pad(input: Tensor, pre_pad: Sequence[int], post_pad: Sequence[int], pad_value: int) -> Tensor:
    """Amounts for four dimensions as they lie in memory."""
    order = _order(input)
    amounts = {}
    for place, dim in enumerate(order, 4 - input.dim()):
        amounts[dim] = (pre_pad[place], post_pad[place])
    sizes = [each for dim in reversed(range(input.dim())) for each in amounts[dim]]
    padded = F.pad(input, sizes, value=pad_value)
    return padded.contiguous() if order == sorted(order) else _image(padded)
