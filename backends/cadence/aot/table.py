# SPDX-License-Identifier: BSD-3-Clause
"""The table of ops: which quantized calls become operators of the backend, under which conditions, and as what. The
passes, the quantizers, the reasons why calls stay and the page of operators read it."""

from __future__ import annotations

import torch
from torch import Tensor
from torch.fx import Node

import executorch.backends.cadence.aot.ops_registrations  # noqa: F401  defines them
from executorch.exir.backend.lowering.annotation import ARITHMETIC, SHARED, Annotation, Kind
from executorch.exir.backend.lowering.fixed_point import quantize_multiplier
from executorch.exir.backend.lowering.kernels.rows import (
    DEQUANTIZE,
    QUANTIZE,
    call_of,
    keeps_parameters,
    of_call,
    operand,
    qparams_of,
    qparams_of_argument,
    quantized,
    result,
    write_move,
)
from executorch.exir.backend.lowering.kernels.writer import KernelWriter
from executorch.exir.backend.lowering.op_table import Condition, Constants, OpTable, Row
from executorch.exir.backend.lowering.patterns import Call
from executorch.exir.backend.lowering.quantized import Quantization, is_dequantize, quantization_of
from executorch.exir.backend.lowering.steps import Step
from executorch.exir.dialects._ops import ops
from executorch.exir.graph_facts import op_name

_OWN = ops.edge.cadence
_DTYPES = (torch.int8, torch.uint8, torch.int16)
_WIDE_DTYPES = (*_DTYPES, torch.uint16, torch.int32)
GEMM = Annotation(Kind.GEMM, weight_only=True)
OF_FIRST = Annotation(Kind.ARITHMETIC, operands=(0,))
STARTS = Annotation(Kind.SHARED, starts=True)

# ---- Conditions ----


def _has_full_range(qparams: Quantization | None) -> bool:
    """All values of a dtype of the kernels, one scale and one zero point, known ahead."""
    if qparams is None or not qparams.is_static or qparams.dtype not in _DTYPES:
        return False
    info = torch.iinfo(qparams.dtype)
    return (qparams.quant_min, qparams.quant_max) == (info.min, info.max)


def _full_range_operands(*places: int) -> Condition:
    def holds(step: Step, constants: Constants) -> bool:
        qparams = [qparams_of_argument(step, place) for place in places]
        made = result(step)
        return _has_full_range(made) and all(
            _has_full_range(each) and each.dtype == made.dtype for each in qparams
        )

    return Condition(
        holds,
        "operands and a result in the whole range of one of int8, uint8 and int16, each with one scale and one zero "
        "point, are expected",
    )


def _has_dtype_of_weights(qparams: Quantization, dtype: torch.dtype) -> bool:
    return qparams.dtype == dtype or (dtype == torch.int16 and qparams.dtype == torch.int8)


def _weights_are_data(step: Step, constants: Constants) -> bool:
    weight, bias = qparams_of_argument(step, 1), qparams_of_argument(step, 2)
    has_bias = call_of(step).args[2:3] not in ((), (None,))
    return (
        weight is not None
        and weight.is_static
        and _has_dtype_of_weights(weight, result(step).dtype)
        and weight.source in constants
        and (not has_bias or (bias is not None and bias.source in constants))
    )


def _covers_limits(step: Step, constants: Constants) -> bool:
    """What is stored has no values beyond the limits of what it is quantized behind."""
    if step.limits is None:
        return True
    made, half = result(step), 0.5
    low, high = (each / made.scale + made.zero_point for each in step.limits)
    return low <= made.quant_min + half and high >= made.quant_max - half


def _is_contiguous(call: Node) -> bool:
    values = [each.meta["val"] for each in (call.args[0], call)]
    return all((each if isinstance(each, Tensor) else each[0]).is_contiguous() for each in values)


def _is_last_dimension(call: Node) -> bool:
    return call.args[1] in (-1, call.meta["val"].dim() - 1)


def _reads_matrices(call: Node) -> bool:
    left, right = (each.meta["val"] for each in call.args)
    is_batched = left.shape[:-2] == right.shape[:-2] and left.dim() >= 2
    return is_batched and left.is_contiguous() and right.is_contiguous()


TWO, ONE = _full_range_operands(0, 1), _full_range_operands(0)
WEIGHTS = Condition(
    _weights_are_data,
    "weights and bias known ahead are expected, the weights in the dtype of the input or int8, the bias in int32",
)
PLAIN = of_call(_is_contiguous, "contiguous tensors are expected")
LIMITS = Condition(_covers_limits, "limits are expected that the stored values cannot pass")
FORWARD = of_call(
    lambda call: not call.args[6] and call.meta["val"].dim() in (3, 4),
    "one or two dimensions, and no transposing, are expected",
)
MATRICES = of_call(_reads_matrices, "contiguous matrices of the same leading sizes are expected")
SAME = Condition(
    lambda step, constants: keeps_parameters(step) and _has_full_range(result(step)),
    "one scale and one zero point of all operands and the result are expected",
)

# ---- Sums of products ----


def _bias(writer: KernelWriter, step: Step, channels: int) -> Node:
    given = qparams_of_argument(step, 2)
    if given is not None:
        return given.source
    zeros = torch.zeros(channels, dtype=torch.int32)
    return writer.constant(f"{call_of(step).name}_bias", zeros)


def _write_linear(writer: KernelWriter, step: Step) -> Node:
    x, weight, y = operand(step, 0), operand(step, 1), result(step)
    bias = _bias(writer, step, weight.source.meta["val"].shape[0])
    points = (x.zero_point, weight.zero_point or 0)
    numbers = quantize_multiplier(x.scale * weight.scale / y.scale)
    target = _OWN.quantized_linear.per_tensor
    return writer.call(target, x.source, weight.source, bias, *points, *numbers, y.zero_point, None)


def _conv_target(depthwise: bool, rank: int) -> Node:
    if rank == 2:
        return _OWN.quantized_conv2d_nchw.per_tensor
    own = _OWN.quantized_depthwise_conv1d_ncl if depthwise else _OWN.quantized_conv1d_ncl
    return own.per_tensor


def _write_conv(writer: KernelWriter, step: Step) -> Node:
    call, x, weight, y = call_of(step), operand(step, 0), operand(step, 1), result(step)
    rank, groups = call.meta["val"].dim() - 2, call.args[8]
    channels = call.args[0].meta["val"].shape[1]
    bias = _bias(writer, step, weight.source.meta["val"].shape[0])
    shapes = [list(each) * (rank // len(each)) for each in call.args[3:6]]
    scale = x.scale * weight.scale
    target = _conv_target(groups > 1 and groups == channels, rank)
    points = (x.zero_point, weight.zero_point or 0, scale, y.scale, y.zero_point)
    numbers = quantize_multiplier(scale / y.scale)
    return writer.call(target, x.source, weight.source, bias, *shapes, groups, *points, *numbers)


def _write_matmul(writer: KernelWriter, step: Step) -> Node:
    x, y, made = operand(step, 0), operand(step, 1), result(step)
    numbers = quantize_multiplier(x.scale * y.scale / made.scale)
    points = (x.source, x.zero_point, y.source, y.zero_point, None)
    return writer.call(_OWN.quantized_matmul.default, *points, *numbers, made.zero_point, False)


# ---- Floats with int8 weights ----


def _is_weight_only(node: Node, constants: Constants) -> bool:
    x, weight = node.args[:2]
    bias = node.args[2] if len(node.args) > 2 else None
    qparams, value = qparams_of(weight), x.meta["val"]
    return (
        qparams is not None
        and qparams.is_static
        and (qparams.dtype, qparams.zero_point or 0) == (torch.int8, 0)
        and qparams.source in constants
        and bias in constants
        and value.dim() >= 2
        and value.shape[-1] % 4 == 0
        and value.shape[-2] == 1
    )


def _write_weight_only(writer: KernelWriter, step: Step) -> Node:
    call = step.head
    weight, bias = qparams_of(call.args[1]), writer.data(call.args[2])
    transposed = writer.constant(f"{call.name}_weight", writer.data(weight.source).T)
    scale = max(float(bias.abs().max()) / 127, 2**-12)
    stored = writer.constant(f"{call.name}_bias", torch.round(bias / scale).to(torch.int8))
    numbers = (transposed, weight.scale, stored, scale)
    return writer.call(_OWN.quantized_w8a32_linear.default, call.args[0], *numbers)


# ---- By element, pools, norms ----


def _write_relu(writer: KernelWriter, step: Step) -> Node:
    x, y = operand(step, 0), result(step)
    numbers = quantize_multiplier(x.scale / y.scale)
    target = _OWN.quantized_relu.per_tensor
    return writer.call(target, x.source, x.zero_point, y.zero_point, *numbers)


def _scale_and_zero_point(value: Quantization) -> tuple[float, int]:
    return value.scale, value.zero_point


def _write_add(writer: KernelWriter, step: Step) -> Node:
    x, y = operand(step, 0), operand(step, 1)
    operands = (x.source, *_scale_and_zero_point(x), y.source, *_scale_and_zero_point(y))
    return writer.call(
        _OWN.quantized_add.per_tensor, *operands, *_scale_and_zero_point(result(step))
    )


def _write_max_pool(writer: KernelWriter, step: Step) -> Node:
    args = (*call_of(step).args, *[None] * 5)
    kernel, stride, padding, dilation = (
        list(each) * (2 // len(each)) if each else default
        for each, default in zip(args[1:5], (None, args[1], [0, 0], [1, 1]), strict=True)
    )
    numbers = (kernel, list(stride) * (2 // len(stride)), padding, dilation, bool(args[5]))
    return writer.call(_OWN.quantized_max_pool2d_nchw.default, operand(step, 0).source, *numbers)


def _write_layer_norm(writer: KernelWriter, step: Step) -> Node:
    call, x = call_of(step), operand(step, 0)
    shape, weight, bias, eps = call.args[1:5]
    given = [
        writer.constant(f"{call.name}_{name}", torch.full(shape, value)) if each is None else each
        for each, name, value in ((weight, "weight", 1.0), (bias, "bias", 0.0))
    ]
    numbers = (*_scale_and_zero_point(x), shape, *given, eps, *_scale_and_zero_point(result(step)))
    return writer.call(_OWN.quantized_layer_norm.per_tensor, x.source, *numbers)


def _write_softmax(writer: KernelWriter, step: Step) -> Node:
    call, x = call_of(step), operand(step, 0)
    sizes = x.source.meta["val"].shape
    mask = torch.zeros(max(1, sizes.numel() // 16), dtype=torch.int32)
    position = torch.zeros(1, dtype=torch.int64)
    known = [
        writer.constant(f"{call.name}_{name}", tensor)
        for name, tensor in (("mask", mask), ("position", position))
    ]
    numbers = (*_scale_and_zero_point(x), *_scale_and_zero_point(result(step)))
    target = _OWN.quantized_softmax.per_tensor
    return writer.call(target, x.source, known[0], len(sizes) - 1, 0, known[1], *numbers)


def _write_requantize(writer: KernelWriter, step: Step) -> Node:
    x, y = quantization_of(call_of(step)), result(step)
    return writer.call(
        _OWN.requantize.per_tensor,
        x.source,
        *_scale_and_zero_point(x),
        *_scale_and_zero_point(y),
        y.dtype,
    )


def _between_stored(step: Step, constants: Constants) -> bool:
    known = quantization_of(call_of(step))
    return (
        _has_full_range(known) and _has_full_range(result(step)) and _is_contiguous(call_of(step))
    )


TABLE = OpTable(
    {
        quantized("aten.linear.default", limits=True): Row(
            _write_linear, (ONE, WEIGHTS, PLAIN, LIMITS), annotation=GEMM
        ),
        quantized("aten.convolution.default", limits=True): Row(
            _write_conv, (ONE, WEIGHTS, PLAIN, FORWARD, LIMITS), annotation=GEMM
        ),
        quantized("aten.bmm.default", "aten.mm.default", "aten.matmul.default"): Row(
            _write_matmul, (TWO, MATRICES), annotation=ARITHMETIC
        ),
        quantized("aten.max_pool2d_with_indices.default", "aten.max_pool2d.default"): Row(
            _write_max_pool, (ONE, SAME, PLAIN), annotation=STARTS
        ),
        quantized("aten.add.Tensor", limits=True): Row(
            _write_add,
            (
                TWO,
                PLAIN,
                LIMITS,
                of_call(lambda call: call.kwargs.get("alpha", 1) == 1, "alpha=1 is expected"),
            ),
            annotation=ARITHMETIC,
        ),
        quantized("aten.native_layer_norm.default"): Row(
            _write_layer_norm, (ONE, PLAIN), annotation=OF_FIRST
        ),
        quantized("aten._softmax.default"): Row(
            _write_softmax,
            (ONE, PLAIN, of_call(_is_last_dimension, "the last dimension is expected")),
            annotation=ARITHMETIC,
        ),
        quantized("aten.relu.default"): Row(_write_relu, (ONE, PLAIN), annotation=ARITHMETIC),
        quantized("aten.cat.default"): Row(write_move, (SAME,), annotation=SHARED),
        Call(QUANTIZE, Call(DEQUANTIZE, name="op")): Row(
            _write_requantize,
            (
                Condition(
                    _between_stored,
                    "contiguous int8, uint8 or int16 on both sides, in the whole range, are expected",
                ),
            ),
        ),
        "aten.linear.default": Row(
            _write_weight_only,
            (
                Condition(
                    _is_weight_only,
                    "a quantized input and result, or float32 [.., 1, columns], a multiple of 4, with int8 weights of "
                    "zero point 0 and a bias, both known ahead, are expected",
                ),
            ),
            preserved=True,
        ),
    }
)


# ---- What is left between float32 and stored values ----


def _is_of_kernels(node: Node, constants: Constants) -> bool:
    qparams = quantization_of(node)
    value = node if is_dequantize(node) else node.args[0]
    return (
        qparams.is_static
        and qparams.dtype in _WIDE_DTYPES
        and value.meta["val"].dtype == torch.float32
    )


def _has_plain_operand(node: Node, constants: Constants) -> bool:
    return node.args[0].meta["val"].is_contiguous()


def _write_same(writer: KernelWriter, step: Step) -> Node:
    name = op_name(step.head).split(".")[1]
    return writer.call(getattr(_OWN, name).default, *step.head.args)


_BETWEEN = Row(
    _write_same,
    (
        Condition(
            _is_of_kernels,
            "float32 on one side, a whole number up to int32 on the other are expected",
        ),
        Condition(_has_plain_operand, "contiguous tensors are expected"),
    ),
)
QUANTIZE_TABLE = OpTable({QUANTIZE: _BETWEEN, DEQUANTIZE: _BETWEEN})
