# SPDX-License-Identifier: BSD-3-Clause
"""What rows of a backend that is kernels ask of a call on quantized values: dequantize, operator, limits, quantize.

%d = dequantize(%x); %c = conv(%d, dequantize(%w)); %r = relu(%c); %q = quantize(%r)   Step(named={op: c, limits: r})"""

from __future__ import annotations

from collections.abc import Callable

import torch
from torch.fx import Node

from executorch.exir.backend.lowering.kernels.writer import KernelWriter
from executorch.exir.backend.lowering.op_table import Condition
from executorch.exir.backend.lowering.patterns import Call
from executorch.exir.backend.lowering.quantized import Quantization, is_dequantize, quantization_of
from executorch.exir.backend.lowering.steps import Step, limited
from executorch.exir.graph_facts import op_name

QUANTIZE = "quantized_decomposed.quantize_per_tensor.default"
DEQUANTIZE = "quantized_decomposed.dequantize_per_tensor.default"
# Portable kernels move stored values as they move anything.
DATA_MOVEMENT = (
    "aten.view_copy.default",
    "aten.permute_copy.default",
    "aten.constant_pad_nd.default",
    "aten.cat.default",
    "aten.stack.default",
    "aten.slice_copy.Tensor",
    "aten.select_copy.int",
    "aten.squeeze_copy.dims",
    "aten.unsqueeze_copy.default",
    "aten.expand_copy.default",
    "aten.repeat.default",
    "aten.flip.default",
    "aten.index_select.default",
    "aten.pixel_shuffle.default",
    "aten.pixel_unshuffle.default",
    "aten.amax.default",
    "aten.amin.default",
    "aten.upsample_nearest2d.vec",
    "dim_order_ops._clone_dim_order.default",
    "dim_order_ops._to_dim_order_copy.default",
)


def quantized(*names: str, limits: bool = False) -> Call:
    """A call of one of these whose result is quantized, with limits in between if it may have some."""
    op = Call(names, name="op")
    return Call(QUANTIZE, limited(op) if limits else op)


def call_of(step: Step) -> Node:
    return step.named["op"]


def qparams_of(node: object) -> Quantization | None:
    """What a call that dequantizes says; None of anything else."""
    return quantization_of(node) if isinstance(node, Node) and is_dequantize(node) else None


def qparams_of_argument(step: Step, place: int) -> Quantization | None:
    """The same of an operand, which may be missing."""
    args = call_of(step).args
    return qparams_of(args[place]) if place < len(args) else None


def operand(step: Step, place: int) -> Quantization:
    """Of one that is known to be dequantized."""
    return quantization_of(call_of(step).args[place])


def result(step: Step) -> Quantization:
    return quantization_of(step.result)


def of_call(test: Callable[[Node], bool], reason: str) -> Condition:
    return Condition(lambda step, constants: test(call_of(step)), reason)


def keeps_parameters(step: Step) -> bool:
    """All float operands, and the result, have the same."""
    qparams = [qparams_of(each) for each in call_of(step).all_input_nodes]
    return bool(qparams) and all(each == result(step) for each in qparams)


def write_move(writer: KernelWriter, step: Step) -> Node:
    """The same call on what is stored, with what it fills in and the dtype that it gives as they are stored."""
    call, qparams = call_of(step), result(step)
    made = writer.graph.node_copy(call, lambda node: qparams_of(node).source)
    if op_name(call) == "aten.constant_pad_nd.default":
        made.update_arg(2, stored_fill(call, qparams))
    if made.kwargs.get("dtype") is not None:
        made.update_kwarg("dtype", qparams.dtype)
    return made


def stored_fill(pad: Node, qparams: Quantization) -> int:
    """What a pad fills in, as a tensor of it is quantized: float32, ties to even."""
    value = torch.tensor(float(pad.args[2]) if len(pad.args) > 2 else 0.0)
    steps = torch.round(value / qparams.scale + qparams.zero_point)
    return int(steps.clamp(qparams.quant_min, qparams.quant_max))
