# SPDX-License-Identifier: BSD-3-Clause
"""Rows of linear, convolutions and matmuls: weights in the kernels' order, multipliers, scratch."""

from __future__ import annotations

import torch
from torch import Tensor
from torch.fx import Node

from executorch.backends.cortex_m.library import cmsis_nn
from executorch.backends.cortex_m.library.cmsis_nn import Backend, DataType
from executorch.backends.cortex_m.passes.calls import (
    IMAGES,
    int8_operands,
    stored_limits,
)
from executorch.exir.backend.lowering.annotation import ARITHMETIC, GEMM
from executorch.exir.backend.lowering.fixed_point import quantize_multiplier
from executorch.exir.backend.lowering.kernels.rows import (
    call_of,
    of_call,
    operand,
    qparams_of,
    quantized,
    result,
)
from executorch.exir.backend.lowering.kernels.writer import KernelWriter
from executorch.exir.backend.lowering.op_table import Condition, Constants, Row
from executorch.exir.backend.lowering.quantized import Quantization
from executorch.exir.backend.lowering.steps import Step
from executorch.exir.dialects._ops import ops

OWN = ops.edge.cortex_m

# ---- Weights ----


def _weights_are_data(step: Step, constants: Constants) -> bool:
    op = call_of(step)
    given = [each for each in op.args[1:3] if each is not None]
    sources = [qparams.source if (qparams := qparams_of(each)) else each for each in given]
    weight = qparams_of(op.args[1])
    return weight is not None and weight.dtype == torch.int8 and all(
        source in constants for source in sources
    )  # fmt: skip


def _has_one_scale(step: Step, constants: Constants) -> bool:
    return qparams_of(call_of(step).args[1]).is_static


WEIGHTS = Condition(
    _weights_are_data, "weights and bias known ahead, the weights in int8, are expected"
)
ONE_SCALE = Condition(_has_one_scale, "weights with one scale for all are expected")


def _scales(writer: KernelWriter, weight: Quantization, channels: int) -> list[float]:
    scales = writer.data(weight.scale) if isinstance(weight.scale, Node) else weight.scale
    found = torch.as_tensor(scales, dtype=torch.float64).flatten().tolist()
    return found * channels if len(found) == 1 else found


def _bias(
    writer: KernelWriter, step: Step, x: Quantization, scales: list[float]
) -> tuple[Node | None, Tensor | None]:
    """The node with int32 and its values."""
    given = (*call_of(step).args[2:3], None)[0]
    if given is None:
        return None, None
    qparams = qparams_of(given)
    if qparams is not None and qparams.dtype == torch.int32:
        return qparams.source, writer.data(qparams.source)
    steps = writer.data(given).double() / (torch.tensor(scales, dtype=torch.float64) * x.scale)
    stored = steps.round().clamp(-(2**30), 2**30).int()  # sums have room beside it in 32 bits
    return writer.constant(f"{call_of(step).name}_bias", stored), stored


def _multipliers(writer: KernelWriter, step: Step, scales: list[float]) -> list[Node]:
    """The constants with a multiplier and a shift per channel."""
    x, y, name = operand(step, 0), result(step), call_of(step).name
    pairs = [quantize_multiplier(x.scale * scale / y.scale) for scale in scales]
    return [
        writer.constant(f"{name}_quantized_{word}", torch.tensor(numbers, dtype=torch.int32))
        for word, numbers in zip(("multiplier", "shift"), zip(*pairs, strict=True), strict=True)
    ]


# ---- Linear ----


def _write_linear(writer: KernelWriter, step: Step) -> Node:
    op, x, y = call_of(step), operand(step, 0), result(step)
    weight = qparams_of(op.args[1])
    bias, values = _bias(writer, step, x, [weight.scale])
    kernel_sum = None
    if writer.options.backend is Backend.MVE:
        sums = writer.data(weight.source).long().sum(1) * -x.zero_point
        sums = sums + (0 if values is None else values.long())
        bias, kernel_sum = None, writer.constant(f"{op.name}_kernel_sum", sums.int()[None])
    multiplier, shift = quantize_multiplier(x.scale * weight.scale / y.scale)
    low, high = stored_limits(step)
    offsets = (-x.zero_point, 0, y.zero_point)
    numbers = (*offsets, [multiplier], [shift], high, low)  # the largest comes first here
    return writer.call(
        OWN.quantized_linear.default, x.source, weight.source, bias, kernel_sum, *numbers
    )


# ---- Convolutions ----


def _pair(values: list[int]) -> list[int]:
    return list(values) * 2 if len(values) == 1 else list(values)


def _nhwc(tensor: Tensor) -> list[int]:
    n, c, h, w = tensor.shape
    return [n, h, w, c]


def _write_conv(writer: KernelWriter, step: Step) -> Node:
    return (_write_transposed if call_of(step).args[6] else _write_forward)(writer, step)


def _common(writer: KernelWriter, step: Step, channels: int) -> tuple[Node | None, list[object]]:
    """The bias, and the numbers from the input's offset to the limits."""
    x, y, weight = operand(step, 0), result(step), qparams_of(call_of(step).args[1])
    scales = _scales(writer, weight, channels)
    bias, _ = _bias(writer, step, x, scales)
    multipliers = _multipliers(writer, step, scales)
    return bias, [-x.zero_point, y.zero_point, *multipliers, *stored_limits(step)]


def _sizes(step: Step, filter_nhwc: list[int], padding: list[int]) -> dict[str, list[int]]:
    op = call_of(step)
    values = [op.args[0].meta["val"], op.meta["val"]]
    return {
        "input_nhwc": _nhwc(values[0]),
        "filter_nhwc": filter_nhwc,
        "output_nhwc": _nhwc(values[1]),
        "padding_hw": padding,
        "stride_hw": _pair(op.args[3]),
        "dilation_hw": _pair(op.args[5]),
    }


def _write_forward(writer: KernelWriter, step: Step) -> Node:
    op, x = call_of(step), operand(step, 0)
    data = writer.data(qparams_of(op.args[1]).source)
    channels, groups = data.shape[0], op.args[8]
    batch, inputs = op.args[0].meta["val"].shape[:2]
    is_depthwise = groups == inputs and channels % inputs == 0 and batch == 1
    stored = data.permute(1, 2, 3, 0) if is_depthwise else data.permute(0, 2, 3, 1)
    stride, padding, dilation = (_pair(each) for each in op.args[3:6])
    bias, numbers = _common(writer, step, channels)
    weight = writer.constant(f"{op.name}_weight_nhwc", stored)
    sizes = _sizes(step, list(stored.shape), padding)
    operands = (x.source, weight, bias, stride, padding, dilation)
    backend = writer.options.backend
    if is_depthwise:
        multiplier = channels // inputs
        scratch = cmsis_nn.depthwise_conv_wrapper_buffer_size(
            backend, DataType.A8W8, ch_mult=multiplier, **sizes
        )
        target = OWN.quantized_depthwise_conv2d.default
        return writer.call(target, *operands, multiplier, *numbers, writer.scratch(scratch))
    scratch = cmsis_nn.convolve_wrapper_buffer_size(backend, DataType.A8W8, **sizes)
    return writer.call(OWN.quantized_conv2d.default, *operands, *numbers, writer.scratch(scratch))


def _write_transposed(writer: KernelWriter, step: Step) -> Node:
    op, x = call_of(step), operand(step, 0)
    stored = writer.data(qparams_of(op.args[1]).source).permute(1, 2, 3, 0)
    stride, padding, dilation, output_padding = (_pair(op.args[place]) for place in (3, 4, 5, 7))
    bias, numbers = _common(writer, step, stored.shape[0])
    weight = writer.constant(f"{op.name}_weight_nhwc", stored)
    sizes = _sizes(step, list(stored.shape), padding)
    backend = writer.options.backend
    scratch = [writer.scratch(cmsis_nn.transpose_conv_buffer_size(backend, DataType.A8W8, **sizes))]
    del sizes["output_nhwc"]
    reverse = cmsis_nn.transpose_conv_reverse_conv_buffer_size(backend, DataType.A8W8, **sizes)
    scratch.append(writer.scratch(reverse))
    shapes = (stride, padding, output_padding, dilation)
    return writer.call(
        OWN.quantized_transpose_conv2d.default, x.source, weight, bias, *shapes, *numbers, *scratch
    )


def _is_served(op: Node) -> bool:
    is_transposed, groups = op.args[6], op.args[8]
    return op.args[1].meta["val"].dim() == 4 and (not is_transposed or groups == 1)


# ---- Products of two activations ----


def _write_bmm(writer: KernelWriter, step: Step) -> Node:
    op, left, right, y = call_of(step), operand(step, 0), operand(step, 1), result(step)
    value = op.args[1].meta["val"]
    turned = writer.value(
        OWN.transpose.default,
        (right.source, [0, 2, 1]),
        right.source.meta["val"].transpose(1, 2).contiguous(),
    )
    size = [1, 1, 1, value.shape[1]]
    scratch = cmsis_nn.fully_connected_buffer_size(
        writer.options.backend, DataType.A8W8, filter_nhwc=size
    )
    multiplier = quantize_multiplier(left.scale * right.scale / y.scale)
    numbers = (y.zero_point, *multiplier, writer.scratch(scratch))
    operands = (left.source, -left.zero_point, turned, -right.zero_point)
    return writer.call(OWN.quantized_batch_matmul.default, *operands, *numbers)


def _are_contiguous(op: Node) -> bool:
    return all(each.meta["val"].is_contiguous() for each in op.args[:2])


ROWS = {
    quantized("aten.linear.default", limits=True): Row(
        _write_linear, (int8_operands(0), WEIGHTS, ONE_SCALE), annotation=GEMM
    ),
    quantized("aten.convolution.default", limits=True): Row(
        _write_conv,
        (
            int8_operands(0),
            WEIGHTS,
            of_call(
                _is_served, "two dimensions are expected, and no groups where it is transposed"
            ),
            IMAGES,
        ),
        annotation=GEMM,
    ),
    quantized("aten.bmm.default"): Row(
        _write_bmm,
        (int8_operands(0, 1), of_call(_are_contiguous, "contiguous matrices are expected")),
        annotation=ARITHMETIC,
    ),
}
