# SPDX-License-Identifier: BSD-3-Clause
"""Rows of convolutions, fully connected layers and matmul."""

from __future__ import annotations

from math import inf
from typing import Any

import torch
from torch.fx import Node
from torch.nn.utils.fusion import fuse_conv_bn_weights

from executorch.backends.samsung.aot.graph import Parameter, QParams
from executorch.backends.samsung.aot.rows import (
    OF_FLOATS,
    EnnRow,
    alone,
    moved,
    quant_dtype,
    row,
    windows,
)
from executorch.backends.samsung.aot.writer import GraphWriter
from executorch.exir.backend.lowering.mode_steps import ModeStep
from executorch.exir.backend.lowering.op_table import Condition, has_rank, is_constant, when
from executorch.exir.backend.lowering.patterns import HEAD
from executorch.exir.backend.lowering.steps import limited, limited_norm, limits_of
from executorch.exir.graph_facts import argument

_ACTIVATIONS = {(0.0, inf): "RELU", (0.0, 6.0): "RELU6"}


def _is_activation(node: Node) -> bool:
    """Other limits are operators of their own."""
    return limits_of(node) in _ACTIVATIONS


_TAIL = limited_norm(_is_activation)  # batch norms become weights


def _convolution(w: GraphWriter, step: ModeStep) -> None:
    """Over one dimension as over two, of which the second is 1."""
    x, weight = step.head.args[:2]
    is_flat = weight.meta["val"].dim() == 3
    source = w.take(x)
    if is_flat:
        source = w.reshaped(source, (*w.values[source].dims, 1))
    data, qparams, bias = _weights(w, step)
    if is_flat:
        data = data.unsqueeze(-1)
    is_transposed = argument(step.head, "transposed")
    operands = [
        source,
        w.constant(weight.name, data.transpose(0, 1) if is_transposed else data, qparams),
    ]
    if bias is not None:
        operands.append(w.constant(f"{weight.name}_bias", bias))
    target = w.write(step.result)
    made = w.like(target, (*w.values[target].dims, 1)) if is_flat else target
    w.emit(_kind(step.head), operands, made, **_parameters(step, data))
    if is_flat:
        w.reshape(made, target)


def _weights(
    w: GraphWriter, step: ModeStep
) -> tuple[torch.Tensor, QParams | None, torch.Tensor | None]:
    """With a batch norm in them, and the bias, which is float."""
    data, qparams = w.weight(step.head.args[1])
    bias = argument(step.head, "bias")
    values = None if bias is None else w.constants[bias].detach()
    norm = step.batch_norm
    if norm is None:
        return data, qparams, values
    scale, shift, mean, variance = (
        None if each is None else w.constants[each].detach() for each in norm.args[1:5]
    )
    is_transposed = argument(step.head, "transposed")
    fused = fuse_conv_bn_weights(
        data, values, mean, variance, norm.args[6], scale, shift, is_transposed
    )
    return fused[0].detach(), None, fused[1].detach()


def _parameters(step: ModeStep, data: torch.Tensor) -> dict[str, Parameter]:
    node = step.head
    stride, dilation = _of_dims(node, "stride", 1), _of_dims(node, "dilation", 1)
    padding = _of_dims(node, "padding", 0)
    activation = {} if step.limits is None else {"activation": _ACTIVATIONS[step.limits]}
    return {
        **quant_dtype(step),
        **activation,
        "kernel_h": data.shape[2],
        "kernel_w": data.shape[3],
        "stride_h": stride[0],
        "stride_w": stride[1],
        "dilation_h": dilation[0],
        "dilation_w": dilation[1],
        "groups": argument(node, "groups", 1),
        "padding": "EXPLICIT",
        "padding_type": "CONSTANT",
        "explicit_padding": (*padding, *padding),
        "in_channels": int(node.args[0].meta["val"].shape[1]),
        "out_channels": int(node.meta["val"].shape[1]),
    }


def _of_dims(node: Node, name: str, added: int) -> tuple[int, int]:
    """`added`: of the dimension that is put behind the only one."""
    found = windows(node, name, [added])
    return (found[0], added) if node.args[1].meta["val"].dim() == 3 else found


def _is_depthwise(node: Node) -> bool:
    """One filter for each channel."""
    groups = argument(node, "groups", 1)
    has_one = node.args[1].meta["val"].shape[1] == 1
    return groups > 1 and has_one and int(node.meta["val"].shape[1]) == groups


def _kind(node: Node) -> str:
    kind = "DECONV2D" if argument(node, "transposed") else "CONV2D"
    return f"DW{kind}" if _is_depthwise(node) else kind


def _linear(w: GraphWriter, step: ModeStep) -> None:
    x, weight = step.head.args[:2]
    _fully_connected(w, step, x, weight, argument(step.head, "bias"))


def _addmm(w: GraphWriter, step: ModeStep) -> None:
    bias, x, weight = step.head.args[:3]
    _fully_connected(w, step, x, weight, bias, is_transposed=True)


def _mm(w: GraphWriter, step: ModeStep) -> None:
    _fully_connected(w, step, *step.head.args[:2], None, is_transposed=True)


def _fully_connected(
    w: GraphWriter,
    step: ModeStep,
    x: Node,
    weight: Node,
    bias: Node | None,
    is_transposed: bool = False,
) -> None:
    data, qparams = w.weight(weight)
    data = data.t() if is_transposed else data
    operands = [w.take(x), w.constant(weight.name, data, qparams)]
    if bias is not None:
        operands.append(w.constant(bias.name, w.constants[bias]))
    own = {"in_channels": data.shape[1], "out_channels": data.shape[0], **quant_dtype(step)}
    target = w.write(step.result)
    if step.limits is None or step.is_quantized:
        w.emit("FC", operands, target, **own)
        return
    made = w.emit("FC", operands, w.like(target, w.values[target].dims), **own)
    if step.limits[1] == inf:
        w.emit("RELU", [made], target)
    else:
        w.emit("CLIP", [made], target, minimum=step.limits[0], maximum=step.limits[1])


def _gather(w: GraphWriter, step: ModeStep) -> None:
    weight, indices = step.head.args[:2]
    operands = w.take(indices), w.constant(weight.name, *w.weight(weight))
    w.give("GATHER", *operands, axis=0, input_type="indices")


# ---- Conditions ----


def _has_groups(node: Node) -> bool:
    return not argument(node, "transposed") or argument(node, "groups", 1) == 1 or _is_depthwise(node)  # fmt: skip


def _is_forward_or_image(node: Node) -> bool:
    return not argument(node, "transposed") or node.args[1].meta["val"].dim() == 4


def _are_one(node: Node) -> bool:
    return argument(node, "alpha", 1) == 1 and argument(node, "beta", 1) == 1


def _is_row(node: Node) -> bool:
    value = node.args[0].meta["val"]
    return value.dim() == 1 and value.shape[0] == node.meta["val"].shape[-1]


def _weight(*names: str) -> Condition:
    return Condition(is_constant(*names), f"{' and '.join(names)} that are static are expected")


def _no_output_padding(node: Node) -> bool:
    return not any(argument(node, "output_padding") or ())


GROUPS = when(_has_groups, "transposed: one group, or as many as channels, is expected")
IMAGES = when(_is_forward_or_image, "transposed: two dimensions are expected")
OUTPUT_PADDING = when(_no_output_padding, "no output_padding is expected")
FACTORS = when(_are_one, "alpha and beta of 1 are expected")
BIAS_ROW = when(_is_row, "a bias of one dimension is expected")
_CONVOLUTION = (OF_FLOATS, has_rank(3, 4), _weight("weight", "bias"), IMAGES, GROUPS, OUTPUT_PADDING)  # fmt: skip


def _gemm(lower: Any, *conditions: Condition, place: int = 1, **more: Any) -> EnnRow:
    tail = limited(HEAD, _is_activation)
    return row(
        lower,
        OF_FLOATS,
        *conditions,
        weights=(place,),
        tail=tail,
        has_floats=True,
        saturates=True,
        **more,
    )


ROWS: dict[str, EnnRow] = {
    "aten.convolution.default": row(_convolution, *_CONVOLUTION, weights=(1,), has_floats=True, tail=_TAIL),
    "aten.linear.default": _gemm(_linear, _weight("weight", "bias"), preserved=True),
    "aten.addmm.default": _gemm(_addmm, _weight("self", "mat2"), FACTORS, BIAS_ROW, place=2),
    "aten.mm.default": _gemm(_mm, _weight("mat2")),
    "aten.bmm.default": row(alone("BATCH_MATMUL"), OF_FLOATS),
    "aten.embedding.default": moved(_gather, _weight("weight"), weights=(0,)),
}  # fmt: skip
