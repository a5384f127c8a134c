# SPDX-License-Identifier: BSD-3-Clause
"""Conditions of rows: what TOSA has a form for, and the limits of Ethos-U55 and U65."""

from __future__ import annotations

from math import prod
from typing import Any

import torch
from torch.fx import Node

from executorch.backends.arm.aot.data_movement import MAX_RUNS, runs_of
from executorch.backends.arm.aot.integers import (
    function_of,
    interpolation_error,
    is_of_one_value,
    varying_of,
)
from executorch.backends.arm.aot.norms import rms_eps, stored_eps
from executorch.backends.arm.aot.reduce import (
    LEFT_OUT,
    covers_image,
    dims_of,
    less_of,
    pool_window,
    resize_numbers,
)
from executorch.backends.arm.aot.steps import AS_INT32, with_limits
from executorch.backends.arm.aot.wide_norms import MAX_COUNT, root_of_eps
from executorch.exir.backend.lowering.mode_steps import quantized_result, static_qparams
from executorch.exir.backend.lowering.op_table import Condition, Constants
from executorch.exir.backend.lowering.patterns import find
from executorch.exir.backend.lowering.quantized import is_dequantize, weight_of
from executorch.exir.backend.lowering.steps import has_limits
from executorch.exir.graph_facts import only_user, op_name, static_sizes

LARGEST = 1 << 16


def _pair(numbers: Any, count: int = 2) -> list[int]:
    numbers = [numbers] if isinstance(numbers, int) else list(numbers)
    return numbers if len(numbers) == count else numbers[:1] * count


# ---- Numbers and constants ----


def _has_constants(*places: int) -> Any:
    def test(node: Node, constants: Constants) -> bool:
        args = [node.args[place] for place in places if place < len(node.args)]
        return all(each is None or each in constants for each in args)

    return test


def _one_value(node: Node, constants: Constants) -> bool:
    """Of a call by table: all but one operand is known."""
    varying = [each for each in node.all_input_nodes if each not in constants]
    return len(varying) == 1


def _one_number_behind(node: Node, constants: Constants) -> bool:
    """Constants of one element: a table has one function for all values."""
    others = [each for each in node.all_input_nodes if each in constants]
    return all(each.meta["val"].numel() == 1 for each in others)


NUMBER_LIMITS = Condition(
    lambda node, constants: has_limits(node), "limits that are numbers are expected"
)
# Of 16 bits, between the points of a table: half a step of 8 bits.
MAX_INTERPOLATION_ERROR = 128


def _interpolates(node: Node, constants: Constants) -> bool:
    """Of 8 bits a table has all results."""
    step = with_limits(node)
    before, stored = static_qparams(varying_of(node, constants)), quantized_result(step.result)
    if before is None or before.dtype != torch.int16 or stored is None:
        return True
    function = function_of(step, constants)
    return interpolation_error(before, static_qparams(stored), function) <= MAX_INTERPOLATION_ERROR


def _divides(node: Node, constants: Constants) -> bool:
    """By a table, or both operands of 8 bits."""
    if is_of_one_value(node, constants):
        return _interpolates(node, constants)
    operands = [static_qparams(each) for each in node.args if is_dequantize(each)]
    return [each.dtype for each in operands if each is not None] == [torch.int8] * 2


DIVIDES = Condition(
    _divides, "a number as one operand, or two operands of 8 bits that are quantized, are expected"
)
INTERPOLATES = Condition(
    _interpolates,
    "of 16 bits: a function that 513 points give to 1/512 of its range is expected",
)
TAKES_BOTH = Condition(
    lambda node, constants: node.kwargs.get("alpha", 1) != 0, "an alpha other than 0 is expected"
)
MATRICES = Condition(
    lambda node, constants: all(each.meta["val"].dim() >= 2 for each in node.args),
    "matrices are expected, not vectors",
)
GIVES_INT32 = Condition(
    lambda node, constants: find(AS_INT32, only_user(node), node) is not None,
    "TOSA counts in int32: `.to(torch.int32)` alone behind it is expected",
)
MAX_PLACES = 127  # of ARGMAX on Ethos-U55 and U65


def _has_few_places(node: Node, constants: Constants) -> bool:
    sizes = static_sizes(node.args[0])
    return prod(sizes[dim] for dim in dims_of(node)) <= MAX_PLACES


FEW_PLACES = Condition(
    _has_few_places, f"at most {MAX_PLACES} values to find the largest of are expected"
)
READS_FLOATS = Condition(
    lambda node, constants: node.args[0].meta["val"].dtype.is_floating_point,
    "floats or quantized values are expected",
)
ONE_VALUE = Condition(_one_value, "one operand that varies is expected")
NUMBER_BEHIND = Condition(_one_number_behind, "one number as the other operand is expected")
NORM_CONSTANTS = Condition(
    _has_constants(1, 2, 3, 4), "scales and shifts that are known ahead are expected"
)
LAYER_NORM_CONSTANTS = Condition(
    _has_constants(2, 3), "scales and shifts that are known ahead are expected"
)
GROUP_NORM_CONSTANTS = Condition(
    _has_constants(1, 2), "scales and shifts that are known ahead are expected"
)


def _is_small(eps: float, node: Node) -> bool:
    qparams = static_qparams(node.args[0])
    if qparams.dtype == torch.int16:
        return root_of_eps(eps, qparams.scale) < 2**29
    return stored_eps(eps, qparams.scale) < 2**30


def _few_values(node: Node, constants: Constants) -> bool:
    """In a row of a norm."""
    most = MAX_COUNT[torch.iinfo(static_qparams(node.args[0]).dtype).bits]
    return node.args[0].meta["val"].numel() <= most * _rows_of(node)


def _sums_fit(node: Node, constants: Constants) -> bool:
    """In INT32: of 8 bits with a zero point, of 16 around zero."""
    most = {torch.int8: 2**23, torch.int16: 2**16}[static_qparams(node.args[0]).dtype]
    sizes = static_sizes(node.args[0])
    dims = (2, 3) if "pool" in op_name(node) else dims_of(node)
    return prod(sizes[dim] for dim in dims) <= most


def _rows_of(node: Node) -> int:
    sizes = static_sizes(node.args[0])
    name = op_name(node)
    if name == "aten.native_group_norm.default":
        return sizes[0] * node.args[6]
    if name.startswith("aten.var"):
        return prod(sizes) // prod(sizes[dim] for dim in dims_of(node))
    return prod(sizes) // prod(node.args[1])


SMALL_EPS = Condition(
    lambda node, constants: _is_small(node.args[-1], node),
    "an eps below 65536 squared quanta of the operand is expected",
)
SMALL_RMS_EPS = Condition(lambda node, constants: _is_small(rms_eps(node), node), SMALL_EPS.reason)
FEW_VALUES = Condition(
    _few_values,
    f"rows of a norm of up to {MAX_COUNT[8]} values, of 16 bits {MAX_COUNT[16]}, are expected",
)
SUMS_FIT = Condition(_sums_fit, "sums of up to 2^23 values, of 16 bits 2^16, are expected")
FEW_POWERS = Condition(
    lambda node, constants: static_sizes(node.args[0])[node.args[1]] < 2**16,
    "a softmax over less than 65536 values is expected",
)
RMS_NORM_CONSTANTS = Condition(_has_constants(2), "scales that are known ahead are expected")


# ---- Convolutions ----


def _convolution_fits(node: Node, constants: Constants) -> bool:
    _, weight, bias = node.args[:3]
    return weight in constants and (bias is None or bias in constants)


def _known_transpose(node: Node, constants: Constants) -> bool:
    transposed, out_padding = node.args[6:8]
    if not transposed:
        return not any(out_padding)
    return node.args[0].meta["val"].dim() == 4 and all(each == 1 for each in node.args[5])


def _fits_out_pad(node: Node, constants: Constants) -> bool:
    if not node.args[6]:
        return True
    taps = node.args[1].meta["val"].shape[2:]
    return all(pad < tap for pad, tap in zip(_pair(node.args[4]), taps, strict=True))


def _stored_weight(node: Node, constants: Constants) -> bool:
    """Of 8 bits, symmetric, with one scale or one for each output channel."""
    weight = node.args[1]
    qparams = weight_of(weight, constants) if is_dequantize(weight) else None
    if qparams is None or qparams.group_size or qparams.source.dtype != torch.int8:
        return False
    if qparams.axis is None or qparams.scale.numel() == 1:
        return True
    transposed = op_name(node) == "aten.convolution.default" and node.args[6]
    return qparams.axis == (1 if transposed else 0)


def _scales_fit(node: Node, constants: Constants) -> bool:
    qparams = weight_of(node.args[1], constants)
    return qparams is None or float(qparams.scale.max()) < 2**10


CONVOLUTION = (
    Condition(_convolution_fits, "weights and bias that are known ahead are expected"),
    Condition(
        _known_transpose,
        "no output padding is expected, or a transposed convolution of an image without dilation",
    ),
    Condition(_fits_out_pad, "padding of a transposed convolution below its kernel is expected"),
)
STORED_WEIGHT = (
    Condition(
        _stored_weight, "an int8 weight with one scale, or one for each output channel, is expected"
    ),
    Condition(_scales_fit, "scales of the weight below 1024 are expected"),
)


def _u55_convolution(node: Node, constants: Constants) -> bool:
    if node.args[0].meta["val"].dim() > 4:
        return False
    shape = static_sizes(node.args[0])
    taps = [1, *static_sizes(node.args[1])[2:]][-2:]
    stride = [1, *_pair(node.args[3], len(shape) - 2)][-2:]
    fits = all(1 <= size <= LARGEST for size in shape[1:])
    fits = fits and taps[1] <= 64 and prod(taps) <= 4096
    if node.args[6]:
        return fits and _u55_transposed(shape, taps, stride)
    dilation = [1, *_pair(node.args[5], len(shape) - 2)][-2:]
    steps = zip(stride, dilation, strict=True)
    return fits and all(s <= 3 or d == 1 for s, d in steps)


def _u55_transposed(shape: list[int], taps: list[int], stride: list[int]) -> bool:
    if stride in ([1, 1], [2, 2]):
        return True
    if stride == [1, 2]:
        return shape[2] == taps[0] == 1
    return stride == [2, 1] and shape[3] == taps[1] == 1


U55_CONVOLUTION = Condition(
    _u55_convolution,
    "Ethos-U55 and U65: up to 65536 channels, rows and columns, kernels up to 64 wide and 4096 in all, strides up to 3 "
    "(transposed 1 or 2) are expected",
)


# ---- Pools ----


def _known_max_pool(node: Node, constants: Constants) -> bool:
    """Dilated, as long as it moves by one."""
    _, window = pool_window(node)
    steps = zip(window.stride, window.dilation, strict=True)
    is_known = all(stride == 1 or gap == 1 for stride, gap in steps)
    is_cut = len(node.args) > 5 and node.args[5] and window.dilation != [1, 1]
    return is_known and not is_cut and node.args[0].meta["val"].dim() == 4


def _reads_whole_windows(node: Node, constants: Constants) -> bool:
    """Windows that reach beyond padding, of ceil_mode, count what is there; TOSA counts so when padding does not."""
    if node.args[0].meta["val"].dim() != 4:
        return False
    args = [*node.args[1:], *LEFT_OUT]
    kernel, window = pool_window(node)
    counts = True if args[4] is None else args[4]
    sizes, out = static_sizes(node.args[0])[2:], static_sizes(node)[2:]
    over = [
        (want - 1) * s + tap > size + 2 * p
        for size, want, s, p, tap in zip(
            sizes, out, window.stride, window.padding, kernel, strict=True
        )
    ]
    return not (counts and any(over) and any(window.padding))


def _is_few_windows(node: Node, constants: Constants) -> bool:
    """Windows that differ in size are taken one by one."""
    sizes, out = static_sizes(node.args[0]), static_sizes(node)
    is_even = all(a % b == 0 for a, b in zip(sizes[2:], out[2:], strict=True))
    return len(sizes) == 4 and (is_even or prod(out[2:]) <= MAX_WINDOWS)


def _u55_pool(node: Node, constants: Constants) -> bool:
    kernel, window = pool_window(node)
    is_average = "avg" in op_name(node)
    if is_average and covers_image(node):
        return True
    fits = all(each <= 3 for each in window.stride) and kernel[1] <= 256
    if is_average:
        fits = fits and static_sizes(node.args[0])[0] == 1
        if any(window.padding):
            fits = fits and max(kernel) <= 8
    return fits and max(static_sizes(node.args[0])) <= LARGEST


MAX_POOL = Condition(
    _known_max_pool, "a pool over an image is expected, moved by one where it is dilated"
)
AVERAGE_POOL = Condition(
    _reads_whole_windows, "windows within the padding of an image are expected"
)
MAX_WINDOWS = 256
WHOLE_WINDOWS = Condition(
    _is_few_windows, "sizes of an image that the results' divide, or 256 windows, are expected"
)
U55_POOL = Condition(
    _u55_pool,
    "Ethos-U55 and U65: strides up to 3, kernels up to 256 wide, averages of one image are expected",
)


# ---- Moves ----


def _resizes(node: Node, constants: Constants) -> bool:
    """What TOSA asks of offset and border holds for every such ratio."""
    sizes, out = static_sizes(node.args[0])[2:], static_sizes(node)[2:]
    aligned = "bilinear" in op_name(node) and bool(node.args[2])
    for size, want in zip(sizes, out, strict=True):
        n, d, *_ = resize_numbers(size, want, aligned)
        is_scale = n <= 2048 and d < 16 * n and n / d <= 256
        if not is_scale or max(size, want) >= 16384:
            return False
    return True


def _keeps_scales(node: Node, constants: Constants) -> bool:
    """Where a factor is given beside the sizes it must say the same."""
    factors = node.args[-1]
    if not isinstance(factors, list | tuple):
        return True
    sizes, out = static_sizes(node.args[0])[2:], static_sizes(node)[2:]
    return all(
        abs(factor * size - want) < 1e-6
        for factor, size, want in zip(factors, sizes, out, strict=True)
    )


def _spreads(node: Node, constants: Constants) -> bool:
    sizes = static_sizes(node.args[0])
    return prod(sizes[dim] for dim in dims_of(node)) > less_of(node)


def _gathers_rows(node: Node, constants: Constants) -> bool:
    x, dim, index = node.args
    sizes = [static_sizes(each) for each in (x, index)]
    return bool(sizes[0]) and all(
        each == dim % len(sizes[0]) or one == other
        for each, (one, other) in enumerate(zip(*sizes, strict=True))
    )


def _index_of_rows(node: Node, constants: Constants) -> bool:
    """One index of one dimension, known ahead."""
    indices = [each for each in node.args[1] if each is not None]
    is_one = len(indices) == 1 and indices[0] in constants
    return is_one and indices[0].meta["val"].dim() == 1 and _is_integer(indices[0])


def _is_integer(node: Node) -> bool:
    return node.meta["val"].dtype in (torch.int64, torch.int32)


def _few_runs(node: Node, constants: Constants) -> bool:
    (index,) = (each for each in node.args[1] if each is not None)
    return len(runs_of(constants[index].tolist())) <= MAX_RUNS


MORE_VALUES = Condition(_spreads, "more values than the correction of a variance are expected")
GATHERS_ROWS = Condition(
    _gathers_rows, "an index of the operand's sizes, but for the dimension, is expected"
)
INDEX_OF_ROWS = Condition(
    _index_of_rows, "one index of one dimension that is known ahead is expected"
)
FEW_RUNS = Condition(_few_runs, "Ethos-U55 and U65: indices of at most 64 runs are expected")
ROLLS_DIMENSIONS = Condition(
    lambda node, constants: len(node.args) > 2 and bool(node.args[2]),
    "dimensions to roll along are expected",
)
RESIZES = (
    Condition(
        _resizes, "a resize of an image by a ratio up to 256, down by less than 16, is expected"
    ),
    Condition(_keeps_scales, "a factor that is the ratio of the sizes is expected"),
)
