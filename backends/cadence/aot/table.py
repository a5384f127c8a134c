# SPDX-License-Identifier: BSD-3-Clause
"""The table of ops: which quantized calls become operators of the backend, under which conditions, and as what. The
passes, the quantizer, the reasons why calls stay and the page of operators read it."""

from __future__ import annotations

import torch
from torch.fx import Node

import executorch.backends.cadence.aot.ops_registrations  # noqa: F401  defines them
from executorch.exir.backend.lowering.annotation import ARITHMETIC, WEIGHTED
from executorch.exir.backend.lowering.fixed_point import quantize_multiplier
from executorch.exir.backend.lowering.kernel_writer import KernelWriter
from executorch.exir.backend.lowering.op_table import Condition, Constants, OpTable, Row
from executorch.exir.backend.lowering.patterns import Call
from executorch.exir.backend.lowering.quantized import Quantization, is_dequantize, quantization_of
from executorch.exir.backend.lowering.steps import Step
from executorch.exir.dialects._ops import ops
from executorch.exir.graph_facts import op_name

_OWN = ops.edge.cadence
_QUANTIZE = "quantized_decomposed.quantize_per_tensor.default"
_DEQUANTIZE = "quantized_decomposed.dequantize_per_tensor.default"
_DTYPES = (torch.int8, torch.uint8, torch.int16)


def _quantized(name: str) -> Call:
    return Call(_QUANTIZE, Call(name, name="op"))


def _said(step: Step, place: int) -> Quantization | None:
    """Of an operand; None of a float one, or of none."""
    args = step.named["op"].args
    node = args[place] if place < len(args) else None
    return quantization_of(node) if isinstance(node, Node) and is_dequantize(node) else None


def _is_whole(said: Quantization | None) -> bool:
    """All values of a dtype of the kernels, one scale and one zero point, known ahead."""
    if said is None or not said.is_static or said.dtype not in _DTYPES:
        return False
    info = torch.iinfo(said.dtype)
    return (said.quant_min, said.quant_max) == (info.min, info.max)


def _is_quantized(step: Step, constants: Constants) -> bool:
    source, result = _said(step, 0), quantization_of(step.result)
    return _is_whole(source) and _is_whole(result) and source.dtype == result.dtype


def _weights_are_data(step: Step, constants: Constants) -> bool:
    weight, bias = _said(step, 1), _said(step, 2)
    has_bias = step.named["op"].args[2:3] not in ((), (None,))
    return (
        weight is not None
        and weight.is_static
        and weight.dtype == quantization_of(step.result).dtype
        and weight.source in constants
        and (not has_bias or (bias is not None and bias.source in constants))
    )


def _is_contiguous(step: Step, constants: Constants) -> bool:
    return all(
        node.meta["val"].is_contiguous() for node in (step.named["op"].args[0], step.named["op"])
    )


def _is_forward(step: Step, constants: Constants) -> bool:
    op = step.named["op"]
    return not op.args[6] and op.meta["val"].dim() in (3, 4)


QUANTIZED = Condition(
    _is_quantized,
    "an operand and a result in the whole range of one of int8, uint8 and int16, each with one scale and one zero "
    "point, are expected",
)
WEIGHTS = Condition(
    _weights_are_data,
    "weights and bias known ahead are expected, the weights in the dtype of the input, the bias in int32",
)
PLAIN = Condition(_is_contiguous, "contiguous tensors are expected")


def _bias(writer: KernelWriter, step: Step, channels: int) -> Node:
    given = _said(step, 2)
    if given is not None:
        return given.source
    zeros = torch.zeros(channels, dtype=torch.int32)
    return writer.constant(f"{step.named['op'].name}_bias", zeros)


def _write_linear(writer: KernelWriter, step: Step) -> Node:
    x, weight, result = _said(step, 0), _said(step, 1), quantization_of(step.result)
    bias = _bias(writer, step, weight.source.meta["val"].shape[0])
    numbers = quantize_multiplier(x.scale * weight.scale / result.scale)
    return writer.call(
        _OWN.quantized_linear.per_tensor,
        x.source,
        weight.source,
        bias,
        x.zero_point,
        weight.zero_point or 0,
        *numbers,
        result.zero_point,
        None,
    )


def _write_conv(writer: KernelWriter, step: Step) -> Node:
    op, x, weight, result = (
        step.named["op"],
        _said(step, 0),
        _said(step, 1),
        quantization_of(step.result),
    )
    rank = op.meta["val"].dim() - 2
    target = (_OWN.quantized_conv1d_ncl, _OWN.quantized_conv2d_nchw)[rank - 1].per_tensor
    bias = _bias(writer, step, weight.source.meta["val"].shape[0])
    shapes = (list(each) * (rank // len(each)) for each in op.args[3:6])
    scale = x.scale * weight.scale
    return writer.call(
        target,
        x.source,
        weight.source,
        bias,
        *shapes,
        op.args[8],
        x.zero_point,
        weight.zero_point or 0,
        scale,
        result.scale,
        result.zero_point,
        *quantize_multiplier(scale / result.scale),
    )


def _write_relu(writer: KernelWriter, step: Step) -> Node:
    x, result = _said(step, 0), quantization_of(step.result)
    numbers = quantize_multiplier(x.scale / result.scale)
    target = _OWN.quantized_relu.per_tensor
    return writer.call(target, x.source, x.zero_point, result.zero_point, *numbers)


TABLE = OpTable(
    {
        _quantized("aten.linear.default"): Row(
            _write_linear, (QUANTIZED, WEIGHTS, PLAIN), annotation=WEIGHTED
        ),
        _quantized("aten.convolution.default"): Row(
            _write_conv,
            (
                QUANTIZED,
                WEIGHTS,
                PLAIN,
                Condition(_is_forward, "one or two dimensions, and no transposing, are expected"),
            ),
            annotation=WEIGHTED,
        ),
        _quantized("aten.relu.default"): Row(
            _write_relu, (QUANTIZED, PLAIN), annotation=ARITHMETIC
        ),
    }
)


# ---- What is left between float32 and stored values ----


def _is_of_kernels(node: Node, constants: Constants) -> bool:
    said = quantization_of(node)
    value = node if is_dequantize(node) else node.args[0]
    return said.is_static and said.dtype in _DTYPES and value.meta["val"].dtype == torch.float32


def _has_plain_operand(node: Node, constants: Constants) -> bool:
    return node.args[0].meta["val"].is_contiguous()


def _write_same(writer: KernelWriter, step: Step) -> Node:
    name = op_name(step.head).split(".")[1]
    return writer.call(getattr(_OWN, name).default, *step.head.args)


_BETWEEN = Row(
    _write_same,
    (
        Condition(
            _is_of_kernels, "float32 on one side, int8, uint8 or int16 on the other are expected"
        ),
        Condition(_has_plain_operand, "contiguous tensors are expected"),
    ),
)
QUANTIZE_TABLE = OpTable({_QUANTIZE: _BETWEEN, _DEQUANTIZE: _BETWEEN})
