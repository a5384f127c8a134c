# SPDX-License-Identifier: BSD-3-Clause
"""Rows of what leaves scale and zero point as they are: pools, pads, extreme values, data movement, limits."""

from __future__ import annotations

import torch
from torch.fx import Node

from executorch.backends.cortex_m.library import cmsis_nn
from executorch.backends.cortex_m.library.cmsis_nn import DataType
from executorch.backends.cortex_m.passes.calls import (
    IMAGES,
    int8_operands,
    is_channels_last,
    is_int8,
    quantize_value,
    stored_limits,
)
from executorch.exir.backend.lowering.annotation import SHARED, Annotation, Kind
from executorch.exir.backend.lowering.fixed_point import quantize_multiplier
from executorch.exir.backend.lowering.kernels.rows import (
    DATA_MOVEMENT,
    call_of,
    keeps_parameters,
    of_call,
    operand,
    quantized,
    result,
    stored_fill,
    write_move,
)
from executorch.exir.backend.lowering.kernels.writer import KernelWriter
from executorch.exir.backend.lowering.op_table import Condition, Row
from executorch.exir.backend.lowering.steps import LIMITING, Step, has_limits, limits_of
from executorch.exir.dialects._ops import ops
from executorch.exir.graph_facts import op_name

OWN = ops.edge.cortex_m
STARTS = Annotation(Kind.SHARED, starts=True)


SAME = Condition(
    lambda step, constants: is_int8(result(step)) and keeps_parameters(step),
    "one scale and one zero point of all operands and the result, in int8, are expected",
)

# ---- Pools ----


def _two(values: list[int], default: list[int] | None = None) -> list[int]:
    given = list(values) or list(default or ())
    return given * 2 if len(given) == 1 else given


def _pool(op: Node) -> tuple[list[int], list[int], list[int]]:
    args = (*op.args, *[[]] * 4)
    kernel = _two(args[1])
    return kernel, _two(args[2], kernel), _two(args[3], [0, 0])


def _is_plain_mean(op: Node) -> bool:
    args = (*op.args, *[None] * 7)[:7]
    return not args[4] and args[6] is None


def _write_mean(writer: KernelWriter, step: Step) -> Node:
    op, x = call_of(step), operand(step, 0)
    kernel, stride, padding = _pool(op)
    counts_padding = len(op.args) < 6 or bool(op.args[5])
    source = x.source
    if counts_padding and any(padding):
        amounts = [0, padding[0], padding[1], 0]
        padded = torch.nn.functional.pad(
            source.meta["val"], (padding[1], padding[1], padding[0], padding[0])
        ).contiguous(memory_format=torch.channels_last)
        source = writer.value(OWN.pad.default, (source, amounts, amounts, x.zero_point), padded)
        padding = [0, 0]
    value, y = op.args[0].meta["val"], op.meta["val"]
    size = cmsis_nn.avgpool_buffer_size(
        writer.options.backend, DataType.A8W8, dim_dst_width=y.shape[3], ch_src=value.shape[1]
    )
    numbers = (x.zero_point, *quantize_multiplier(x.scale), writer.scratch(size))
    return writer.call(OWN.quantized_avg_pool2d.default, source, kernel, stride, padding, *numbers)


def _is_plain_maximum(op: Node) -> bool:
    args = (*op.args, *[[]] * 6)
    return all(each == 1 for each in args[4] or ()) and not args[5]


def _write_maximum(writer: KernelWriter, step: Step) -> Node:
    x = operand(step, 0)
    zero_points = (x.zero_point, result(step).zero_point)
    numbers = (*_pool(call_of(step)), [1, 1], False, *zero_points, *stored_limits(step))
    return writer.call(OWN.quantized_max_pool2d.default, x.source, *numbers)


# ---- Of two, moves, limits ----


def _write_choice(writer: KernelWriter, step: Step) -> Node:
    name = op_name(call_of(step)).split(".")[1]
    target = getattr(OWN, name).default
    return writer.call(target, operand(step, 0).source, operand(step, 1).source)


def _write_permute(writer: KernelWriter, step: Step) -> Node:
    op, x = call_of(step), operand(step, 0)
    rank = op.meta["val"].dim()
    return writer.call(OWN.transpose.default, x.source, [dim % rank for dim in op.args[1]])


def _is_contiguous_permute(op: Node) -> bool:
    value, made = op.args[0].meta["val"], op.meta["val"]
    return 1 <= value.dim() <= 4 and value.is_contiguous() and made.is_contiguous()


def _write_pad(writer: KernelWriter, step: Step) -> Node:
    op, x = call_of(step), operand(step, 0)
    value = op.args[0].meta["val"]
    rank, amounts = value.dim(), op.args[1]
    before, behind = [0] * 4, [0] * 4
    for place in range(len(amounts) // 2):  # the innermost dimension first
        before[3 - place], behind[3 - place] = amounts[2 * place : 2 * place + 2]
    if rank == 4 and is_channels_last(value) and not value.is_contiguous():
        before, behind = ([each[dim] for dim in (0, 2, 3, 1)] for each in (before, behind))
    return writer.call(OWN.pad.default, x.source, before, behind, stored_fill(op, x))


def _is_small_pad(op: Node) -> bool:
    return 1 <= op.meta["val"].dim() <= 4 and all(each >= 0 for each in op.args[1])


def _write_limits(writer: KernelWriter, step: Step) -> Node:
    op, y = call_of(step), result(step)
    low, high = (quantize_value(each, y) for each in limits_of(op))
    return writer.call(ops.edge.aten.clamp.default, operand(step, 0).source, low, high)


ROWS = {
    quantized("aten.avg_pool2d.default"): Row(
        _write_mean,
        (
            int8_operands(0),
            SAME,
            of_call(_is_plain_mean, "no ceil_mode and no divisor_override are expected"),
            IMAGES,
        ),
        annotation=STARTS,
    ),
    quantized("aten.max_pool2d_with_indices.default", "aten.max_pool2d.default", limits=True): Row(
        _write_maximum,
        (
            int8_operands(0),
            SAME,
            of_call(_is_plain_maximum, "no dilation and no ceil_mode are expected"),
            IMAGES,
        ),
        annotation=STARTS,
    ),
    quantized("aten.minimum.default", "aten.maximum.default"): Row(
        _write_choice, (int8_operands(0, 1), SAME), annotation=STARTS
    ),
    quantized("aten.permute_copy.default"): Row(
        _write_permute,
        (
            int8_operands(0),
            SAME,
            of_call(_is_contiguous_permute, "up to four contiguous dimensions are expected"),
        ),
        annotation=SHARED,
    ),
    quantized("aten.constant_pad_nd.default"): Row(
        _write_pad,
        (
            int8_operands(0),
            SAME,
            of_call(_is_small_pad, "up to four dimensions that get larger are expected"),
        ),
        annotation=SHARED,
    ),
    quantized(*LIMITING): Row(
        _write_limits,
        (int8_operands(0), SAME, of_call(has_limits, "limits that are numbers are expected")),
        annotation=SHARED,
    ),
    quantized(*DATA_MOVEMENT): Row(write_move, (SAME,), annotation=SHARED),
}
