# SPDX-License-Identifier: BSD-3-Clause
"""Rows of convolutions, fully connected layers and matmul."""

from __future__ import annotations

from collections.abc import Sequence
from math import ceil

import torch
from torch.fx import Node

from executorch.backends.nxp.aot.graph import SCHEMA
from executorch.backends.nxp.aot.rows import (
    NeutronRow,
    StepCondition,
    operand_numbers,
    row,
    sizes_of,
    windows,
)
from executorch.backends.nxp.aot.writer import TfliteWriter
from executorch.backends.nxp.backend.neutron_target_spec import NeutronTarget
from executorch.exir.backend.lowering.annotation import ARITHMETIC, GEMM, Annotation, Kind
from executorch.exir.backend.lowering.layout import NHWC, channels_last, plain
from executorch.exir.backend.lowering.mode_steps import ModeStep
from executorch.exir.backend.lowering.op_table import (
    Condition,
    Constants,
    has_rank,
    is_constant,
    when,
)
from executorch.exir.backend.lowering.quantized import is_dequantize, quantization_of
from executorch.exir.graph_facts import argument

LARGEST_WINDOW = 4096
_LARGEST_SUM = 65535  # of kernel positions times groups of channels
_GROUPS = range(2, 11)
_LARGEST_TRANSPOSED_STRIDE = 2


def _linear(w: TfliteWriter, step: ModeStep) -> None:
    x, weight = step.head.args[:2]
    _fully_connected(w, x, weight, argument(step.head, "bias"), [0, 1])


def _addmm(w: TfliteWriter, step: ModeStep) -> None:
    bias, x, weight = step.head.args[:3]
    _fully_connected(w, x, weight, bias, [1, 0])


def _mm(w: TfliteWriter, step: ModeStep) -> None:
    x, weight = step.head.args[:2]
    _fully_connected(w, x, weight, None, [1, 0])


def _fully_connected(
    w: TfliteWriter, x: Node, weight: Node, bias: Node | None, order: Sequence[int]
) -> None:
    """`order`: in which the dimensions of the weight are outputs, inputs."""
    data, qparams = w.weight(weight, order)
    operands = [
        w.read(x),
        w.constant(weight.name, data, qparams),
        w.bias(bias, x, qparams, data.shape[0]),
    ]
    w.give("FULLY_CONNECTED", *operands, options="FullyConnectedOptions", keep_num_dims=True)


def _batched(w: TfliteWriter, step: ModeStep) -> None:
    operands = [w.read(each, rank=3) for each in step.head.args[:2]]
    w.give("BATCH_MATMUL", *operands, options="BatchMatMulOptions", adj_x=False, adj_y=False)


# ---- Convolutions ----


def _convolution(w: TfliteWriter, step: ModeStep) -> None:
    """Over one dimension as over two, of which the first is 1."""
    x, weight = step.head.args[:2]
    is_flat = weight.meta["val"].dim() == 3
    source = w.read(x, NHWC)
    if is_flat:
        source = w.reshaped(source, _with_row(w.values[source].sizes))
    write = _transposed if argument(step.head, "transposed") else _forward

    def lower(made: int) -> None:
        if not is_flat:
            write(w, step.head, source, made)
            return
        flat = w.like(made, _with_row(w.values[made].sizes))
        write(w, step.head, source, flat)
        w.reshape(flat, made)

    w.finish(lower)


def _with_row(sizes: Sequence[int]) -> list[int]:
    """NLC as N1LC."""
    return [sizes[0], 1, *sizes[1:]]


def _of_dims(node: Node, name: str, added: int) -> list[int]:
    """One for each of two dimensions; `added`: of the row that is put in."""
    is_flat = node.args[1].meta["val"].dim() == 3
    given = windows(node, name, 1 if is_flat else 2, added)
    return [added, *given] if is_flat else given


def _weight(
    w: TfliteWriter, node: Node, order: Sequence[int], axis: int
) -> tuple[torch.Tensor, object]:
    """`order`: of a kernel with two dimensions."""
    weight = node.args[1]
    if weight.meta["val"].dim() == 4:
        return w.weight(weight, order, axis)
    data, qparams = w.weight(weight, range(3), axis)
    return data.unsqueeze(2).permute(*order), qparams


def _forward(w: TfliteWriter, node: Node, source: int, made: int) -> None:
    padding, groups = _of_dims(node, "padding", 0), argument(node, "groups", 1)
    point = w.values[source].qparams.zero_points[0]
    source = w.padded(source, [(0, 0), *((pad, pad) for pad in padding), (0, 0)], point)
    if _is_depthwise(node):
        data, qparams = _weight(w, node, [1, 2, 3, 0], 3)
        _emit(w, node, "DEPTHWISE_CONV_2D", (source, data, qparams, argument(node, "bias")), made)
        return
    data, qparams = _weight(w, node, [0, 2, 3, 1], 0)
    if groups == 1:
        _emit(w, node, "CONV_2D", (source, data, qparams, argument(node, "bias")), made)
        return
    _grouped(w, node, source, data, qparams, made)


def _emit(
    w: TfliteWriter, node: Node, kind: str, operands: tuple, made: int, part: slice = slice(None)
) -> int:
    """`part`: of the output channels."""
    source, data, qparams, bias = operands
    stride, dilation = _of_dims(node, "stride", 1), _of_dims(node, "dilation", 1)
    is_depthwise = kind == "DEPTHWISE_CONV_2D"
    count = data.shape[3 if is_depthwise else 0]
    weight = w.constant(node.args[1].name, data, qparams)
    fields = {
        "padding": SCHEMA.classes["Padding"].VALID,
        "stride_h": stride[0],
        "stride_w": stride[1],
        "dilation_h_factor": dilation[0],
        "dilation_w_factor": dilation[1],
    }
    if is_depthwise:
        fields["depth_multiplier"] = 1
    biases = w.bias(bias, node.args[0], qparams, count, part)
    options = "DepthwiseConv2DOptions" if is_depthwise else "Conv2DOptions"
    return w.emit(kind, [source, weight, biases], made, options=options, **fields)


def _grouped(
    w: TfliteWriter, node: Node, source: int, data: torch.Tensor, qparams: object, made: int
) -> None:
    """A convolution for each group of channels."""
    groups, sizes = argument(node, "groups"), list(w.values[source].sizes)
    inputs, outputs = sizes[3] // groups, data.shape[0] // groups
    parts = []
    for group in range(groups):
        part = slice(group * outputs, (group + 1) * outputs)
        own = w.sliced(source, [0, 0, 0, group * inputs], [*sizes[:3], inputs])
        result = w.like(made, [*w.values[made].sizes[:3], outputs])
        operands = own, data[part], w.part_of(qparams, part), argument(node, "bias")
        parts.append(_emit(w, node, "CONV_2D", operands, result, part))
    w.emit("CONCATENATION", parts, made, options="ConcatenationOptions", axis=3)


def _transposed(w: TfliteWriter, node: Node, source: int, made: int) -> None:
    """Of all outputs, then without the padding."""
    stride, padding = _of_dims(node, "stride", 1), _of_dims(node, "padding", 0)
    data, qparams = _weight(w, node, [1, 2, 3, 0], 0)
    sizes, outputs = w.values[source].sizes, list(w.values[made].sizes)
    whole = [
        max((size - 1) * step + kernel, pad + out)
        for size, step, kernel, pad, out in zip(
            sizes[1:3], stride, data.shape[1:3], padding, outputs[1:3], strict=True
        )
    ]
    whole = [outputs[0], *whole, outputs[3]]
    target = made if whole == outputs else w.like(made, whole)
    operands = [w.ints(whole), w.constant(node.args[1].name, data, qparams), source,
                w.bias(argument(node, "bias"), node.args[0], qparams, outputs[3])]  # fmt: skip
    fields = {
        "padding": SCHEMA.classes["Padding"].VALID,
        "stride_h": stride[0],
        "stride_w": stride[1],
    }
    w.emit("TRANSPOSE_CONV", operands, target, options="TransposeConvOptions", **fields)
    if target != made:
        w.sliced(target, [0, *padding, 0], outputs, made)


# ---- Conditions ----


def _is_depthwise(node: Node) -> bool:
    groups, inputs = argument(node, "groups", 1), sizes_of(node.args[0])[1]
    return groups > 1 and groups == inputs == sizes_of(node)[1] and not argument(node, "transposed")


def _has_taken_groups(node: Node) -> bool:
    groups = argument(node, "groups", 1)
    if argument(node, "transposed"):
        return groups == 1
    return groups == 1 or groups in _GROUPS or _is_depthwise(node)


def _kernel(node: Node) -> list[int]:
    return sizes_of(node.args[1])[2:]


def _has_small_windows(node: Node) -> bool:
    values = [*_kernel(node), *_of_dims(node, "stride", 1), *_of_dims(node, "dilation", 1)]
    return all(each <= LARGEST_WINDOW for each in values)


def _is_taken_transposed(node: Node) -> bool:
    if not argument(node, "transposed"):
        return not any(windows(node, "output_padding", 2, 0))
    stride, padding = _of_dims(node, "stride", 1), _of_dims(node, "padding", 0)
    kernel = [1, *_kernel(node)][-2:]
    return all(
        step <= min(size, _LARGEST_TRANSPOSED_STRIDE) and pad < size
        for size, step, pad in zip(kernel, stride, padding, strict=True)
    ) and all(each == 1 for each in _of_dims(node, "dilation", 1))


def _is_weight(place: int, ranks: Sequence[int], axis: int | None) -> Condition:
    """`axis`: along which there may be several scales."""

    def test(node: Node, constants: Constants) -> bool:
        weight = node.args[place]
        qparams = quantization_of(weight) if is_dequantize(weight) else None
        if weight not in constants or qparams is None or qparams.dtype != torch.int8:
            return False
        own = axis if not argument(node, "transposed") else 1
        is_axis = qparams.axis is None or qparams.axis % weight.meta["val"].dim() == own
        points = qparams.zero_point
        points = constants[points] if isinstance(points, Node) else torch.tensor(points or 0)
        return (
            weight.meta["val"].dim() in ranks
            and qparams.group_size == 0
            and is_axis
            and not bool(points.any())
        )

    return Condition(test, "a weight that is static, int8 with zero points of 0, is expected")


def _has_no_factors(node: Node) -> bool:
    return argument(node, "alpha", 1) == 1 and argument(node, "beta", 1) == 1


def _is_row(node: Node) -> bool:
    sizes = sizes_of(node.args[0])
    return sizes[-1:] == sizes_of(node.args[2])[1:] and all(each == 1 for each in sizes[:-1])


def _has_zero_points(step: ModeStep, constants: Constants) -> bool:
    return all(point == 0 for _, point in operand_numbers(step))


BIAS = Condition(is_constant("bias"), "a bias that is static is expected")
WINDOWS = when(
    _has_small_windows, f"kernel, stride and dilation of at most {LARGEST_WINDOW} are expected"
)
GROUPS = when(
    _has_taken_groups,
    "up to 10 groups, or as many as channels, are expected; of a transposed one, 1",
)
TRANSPOSED = when(
    _is_taken_transposed,
    "transposed: strides of at most 2 and the kernel, padding below the kernel and no dilation are expected",
)
FACTORS = when(_has_no_factors, "alpha and beta of 1 are expected")
ROW = when(_is_row, "a bias of one row is expected")
ZERO_POINTS = StepCondition(_has_zero_points, "operands with zero points of 0 are expected")


def sums_fit(target: NeutronTarget) -> Condition:
    def test(node: Node) -> bool:
        channels = sizes_of(node.args[0])[1] // argument(node, "groups", 1)
        positions = 1
        for size in _kernel(node):
            positions *= size
        macs = target.numMacs
        return positions * ceil(channels / macs) * macs <= _LARGEST_SUM

    return when(test, f"sums of at most {_LARGEST_SUM} products are expected")


def rows(target: NeutronTarget) -> dict[str, NeutronRow]:
    matrix = {"layouts": plain, "tail": None}
    return {
        "aten.linear.default": row(
            _linear, _is_weight(1, (2,), None), BIAS, layouts=plain, preserved=True,
            annotation=GEMM, weights=(1, 2),
        ),
        "aten.addmm.default": row(
            _addmm, FACTORS, _is_weight(2, (2,), None), Condition(_has_static_bias, BIAS.reason), ROW, layouts=plain,
            annotation=Annotation(Kind.GEMM, places=(1, 2, 0)), weights=(0, 2),
        ),
        "aten.mm.default": row(
            _mm, _is_weight(1, (2,), None), layouts=plain, annotation=GEMM, weights=(1,),
        ),
        "aten.bmm.default": row(_batched, ZERO_POINTS, annotation=ARITHMETIC, **matrix),
        "aten.convolution.default": row(
            _convolution, has_rank(3, 4), _is_weight(1, (3, 4), 0), BIAS, WINDOWS, GROUPS, TRANSPOSED,
            sums_fit(target), layouts=channels_last, annotation=GEMM, weights=(1, 2),
        ),
    }  # fmt: skip


def _has_static_bias(node: Node, constants: Constants) -> bool:
    return node.args[0] in constants
