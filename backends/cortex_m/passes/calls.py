# SPDX-License-Identifier: BSD-3-Clause
"""What rows ask of a call on quantized values: dequantize, operator, limits, quantize.

%d = dequantize(%x); %c = conv(%d, dequantize(%w)); %r = relu(%c); %q = quantize(%r)   Step(named={op: c, limits: r})"""

from __future__ import annotations

import math

import torch
from torch.fx import Node

from executorch.exir.backend.lowering.kernels.rows import call_of, of_call, qparams_of, result
from executorch.exir.backend.lowering.op_table import Condition, Constants
from executorch.exir.backend.lowering.quantized import Quantization
from executorch.exir.backend.lowering.steps import Step


def is_int8(qparams: Quantization | None) -> bool:
    """The whole range of int8 with one scale and one zero point, known ahead."""
    return (
        qparams is not None
        and qparams.is_static
        and (qparams.dtype, qparams.quant_min, qparams.quant_max) == (torch.int8, -128, 127)
    )


def int8_operands(*places: int) -> Condition:
    """Of these arguments and the result."""

    def holds(step: Step, constants: Constants) -> bool:
        args = call_of(step).args
        given = [args[place] if place < len(args) else None for place in places]
        return is_int8(result(step)) and all(is_int8(qparams_of(each)) for each in given)

    return Condition(
        holds,
        "operands and a result in the whole range of int8, each with one scale and one zero point, are expected",
    )


# ---- Numbers ----


def quantize_value(value: float, qparams: Quantization) -> int:
    """As a tensor of that value is quantized: float32, ties to even."""
    if math.isinf(value):
        return 127 if value > 0 else -128
    steps = torch.tensor(value, dtype=torch.float32) / torch.tensor(
        qparams.scale, dtype=torch.float32
    )
    return int(torch.clamp(torch.round(steps + qparams.zero_point), -128, 127))


def stored_limits(step: Step) -> tuple[int, int]:
    """Least and largest value of the result."""
    if step.limits is None:
        return -128, 127
    low, high = (quantize_value(each, result(step)) for each in step.limits)
    return low, high


# ---- Memory ----


def is_channels_last(tensor: torch.Tensor) -> bool:
    """Of [N, C, H, W]; with one channel or one pixel either order is that."""
    if tensor.dim() != 4:
        return False
    if tensor.shape[1] == 1 or (tensor.shape[2] == 1 and tensor.shape[3] == 1):
        return True
    return tuple(tensor.dim_order())[:2] == (0, 2)


def has_images(node: Node) -> bool:
    """The first operand and the result of a call."""
    values = [each.meta["val"] for each in (node.args[0], node)]
    values = [each[0] if isinstance(each, tuple | list) else each for each in values]
    return all(is_channels_last(each) for each in values)


IMAGES = of_call(
    has_images,
    "images with channels last in memory are expected: model.to(memory_format=torch.channels_last), and its inputs",
)


def is_static(node: Node) -> bool:
    return all(isinstance(size, int) for size in node.meta["val"].shape)
