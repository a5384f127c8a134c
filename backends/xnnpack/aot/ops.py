# SPDX-License-Identifier: BSD-3-Clause
"""The table of ops: what XNNPACK takes, under which conditions, and as which nodes. The partitioner, preprocess and
the reasons why a node stays outside all read it."""

from __future__ import annotations

from collections.abc import Callable, Collection
from dataclasses import dataclass
from enum import Enum
from typing import Any

import torch
from torch.fx import Node

from executorch.backends.xnnpack.aot.graph_builder import GraphBuilder, shape_of
from executorch.backends.xnnpack.aot.lower import (
    batch_matrix_multiply,
    clamp,
    concatenate,
    constant_pad,
    convert,
    elementwise,
    fully_connected,
    global_average,
    pool,
    reshape,
    slice_,
    softmax,
    transpose,
)
from executorch.backends.xnnpack.aot.lower_convolution import convolution
from executorch.backends.xnnpack.aot.quantization import DEQUANTIZE, QUANTIZE, parameters_of
from executorch.backends.xnnpack.aot.steps import (
    BATCH_NORM,
    CONVOLUTION,
    Step,
    first_item,
    foldable_convolution,
    limits_of,
    op_name,
)

Constants = Collection[Node]
MAX_RANK = 6


class Quantized(Enum):
    """How an operator works on 8-bit values."""

    NO = 0
    WEIGHTED = 1  # constant weights, results of a range of their own
    ARITHMETIC = 2  # results of a range of their own
    SAME = 3  # results of the range of the inputs


@dataclass(frozen=True)
class Row:
    """`check` gives the reason why not, or nothing. `moves`: no arithmetic, not worth a delegate of its own."""

    lower: Callable[[GraphBuilder, Step], None]
    check: Callable[[Node, Constants], str] = lambda node, constants: ""
    moves: bool = False
    quantized: Quantized = Quantized.NO


def argument(node: Node, position: int, name: str, default: Any = None) -> Any:
    if len(node.args) > position:
        return node.args[position]
    return node.kwargs.get(name, default)


def _sizes(node: Node) -> tuple[Any, ...]:
    return tuple(node.meta["val"].shape)


def _is_dynamic(node: Node) -> bool:
    return any(isinstance(size, torch.SymInt) for size in _sizes(node))


def _convolution(node: Node, constants: Constants) -> str:
    weight, bias = node.args[1], node.args[2]
    if weight not in constants or (bias is not None and bias not in constants):
        return "weight and bias must be constant"
    if len(_sizes(node)) != 4:
        return "two spatial dimensions are expected"
    padding, transposed, output_padding = node.args[4], node.args[6], node.args[7]
    values = (*node.args[3], *padding, *node.args[5], *output_padding)
    if not all(isinstance(value, int) for value in values):
        return "parameters must be numbers"
    strides = node.args[3]
    if transposed and any(o >= s for o, s in zip(output_padding, strides, strict=False)):
        return "output padding must be below the stride"
    return ""


def _batch_norm(node: Node, constants: Constants) -> str:
    source = foldable_convolution(node)
    if source is None or _convolution(source, constants):
        return "a batch norm goes into the convolution before it"
    if any(arg is not None and arg not in constants for arg in node.args[1:5]):
        return "statistics must be constant"
    return "" if first_item(node) is not None else "only its first output may be used"


def _linear(node: Node, constants: Constants) -> str:
    weight, bias = node.args[1], argument(node, 2, "bias")
    if weight not in constants or (bias is not None and bias not in constants):
        return "weight and bias must be constant"
    return "" if weight.meta["val"].dim() == 2 else "a weight of two dimensions is expected"


def _with_alpha(node: Node, constants: Constants) -> str:
    return "" if node.kwargs.get("alpha", 1) == 1 else "alpha must be 1"


def _gelu(node: Node, constants: Constants) -> str:
    return "" if node.kwargs.get("approximate", "none") == "none" else "the exact form is expected"


def _elu(node: Node, constants: Constants) -> str:
    return "" if all(arg == 1 for arg in node.args[2:]) else "scales must be 1"


def _clamp(node: Node, constants: Constants) -> str:
    return "" if limits_of(node) is not None else "limits must be numbers, the lower one first"


def _softmax(node: Node, constants: Constants) -> str:
    rank = len(_sizes(node))
    return "" if node.args[1] in (-1, rank - 1) else "the last dimension is expected"


def _mean(node: Node, constants: Constants) -> str:
    source = node.args[0]
    if source.meta["val"].dim() != 4:
        return "four dimensions are expected"
    dims = argument(node, 1, "dim") or []
    if sorted(dim % 4 for dim in dims) != [2, 3]:
        return "the mean over the last two dimensions is expected"
    return ""


def _window(node: Node, ceil_mode: bool) -> str:
    kernel = node.args[1]
    if len(_sizes(node.args[0])) != 4:
        return "four dimensions are expected"
    if ceil_mode:
        return "ceil_mode is not supported"
    return "" if torch.Size(kernel).numel() > 1 else "a window of one element"


def _max_pool(node: Node, constants: Constants) -> str:
    if first_item(node) is None:
        return "only the values may be used"
    return _window(node, argument(node, 5, "ceil_mode", False))


def _average_pool(node: Node, constants: Constants) -> str:
    padding = argument(node, 3, "padding", [0, 0])
    if any(padding) and argument(node, 5, "count_include_pad", True):
        return "padding must not count"
    if argument(node, 6, "divisor_override") is not None:
        return "divisor_override is not supported"
    return _window(node, argument(node, 4, "ceil_mode", False))


def _cat(node: Node, constants: Constants) -> str:
    count = len(node.args[0])
    return "" if count >= 2 else "at least two tensors are expected"


def _view(node: Node, constants: Constants) -> str:
    dynamic = sum(isinstance(size, torch.SymInt) for size in _sizes(node))
    return "" if dynamic <= 1 else "at most one size may vary"


def _slice(node: Node, constants: Constants) -> str:
    if argument(node, 4, "step", 1) != 1:
        return "a step of 1 is expected"
    return "sizes must not vary" if _is_dynamic(node) or _is_dynamic(node.args[0]) else ""


def _pad(node: Node, constants: Constants) -> str:
    return "" if all(isinstance(p, int) and p >= 0 for p in node.args[1]) else "negative padding"


def _bmm(node: Node, constants: Constants) -> str:
    return "" if node.args[0] not in constants else "the first matrix must not be constant"


def _convert(node: Node, constants: Constants) -> str:
    if parameters_of(node) is None:
        return "the whole range of int8 is expected"
    return "" if node.args[0] not in constants else "it is computed ahead"


def _unary(kind: str) -> Row:
    return Row(elementwise(kind))


_SAME = Quantized.SAME
_CLAMP = Row(clamp, _clamp, quantized=_SAME)
_RESHAPE = Row(reshape, _view, moves=True, quantized=_SAME)

TABLE: dict[str, Row] = {
    CONVOLUTION: Row(convolution, _convolution, quantized=Quantized.WEIGHTED),
    BATCH_NORM: Row(convolution, _batch_norm),
    QUANTIZE: Row(convert, _convert, moves=True),
    DEQUANTIZE: Row(convert, _convert, moves=True),
    "aten.linear.default": Row(fully_connected, _linear, quantized=Quantized.WEIGHTED),
    "aten.bmm.default": Row(batch_matrix_multiply, _bmm),
    "aten.add.Tensor": Row(elementwise("XNNAdd"), _with_alpha, quantized=Quantized.ARITHMETIC),
    "aten.sub.Tensor": Row(elementwise("XNNSubtract"), _with_alpha),
    "aten.mul.Tensor": Row(elementwise("XNNMultiply"), quantized=Quantized.ARITHMETIC),
    "aten.div.Tensor": _unary("XNNDiv"),
    "aten.maximum.default": _unary("XNNMaximum"),
    "aten.minimum.default": _unary("XNNMinimum"),
    "aten.abs.default": _unary("XNNAbs"),
    "aten.ceil.default": _unary("XNNCeiling"),
    "aten.exp.default": _unary("XNNExp"),
    "aten.floor.default": _unary("XNNFloor"),
    "aten.gelu.default": Row(elementwise("XNNGelu"), _gelu),
    "aten.hardswish.default": _unary("XNNHardswish"),
    "aten.log.default": _unary("XNNLog"),
    "aten.neg.default": _unary("XNNNegate"),
    "aten.rsqrt.default": _unary("XNNReciprocalSquareRoot"),
    "aten.sigmoid.default": _unary("XNNSigmoid"),
    "aten.sqrt.default": _unary("XNNSquareRoot"),
    "aten.tanh.default": _unary("XNNTanh"),
    "aten.leaky_relu.default": Row(elementwise("XNNLeakyReLU", "negative_slope", 0.01)),
    "aten.elu.default": Row(elementwise("XNNELU", "alpha", 1.0), _elu),
    "aten.relu.default": _CLAMP,
    "aten.hardtanh.default": _CLAMP,
    "aten.clamp.default": _CLAMP,
    "aten._softmax.default": Row(softmax, _softmax),
    "aten.mean.dim": Row(global_average, _mean, quantized=Quantized.ARITHMETIC),
    "aten.max_pool2d_with_indices.default": Row(
        pool("XNNMaxPooling2d"), _max_pool, quantized=_SAME
    ),
    "aten.avg_pool2d.default": Row(pool("XNNAvgPooling2d"), _average_pool),
    "aten.cat.default": Row(concatenate, _cat, moves=True, quantized=_SAME),
    "aten.permute_copy.default": Row(transpose, moves=True, quantized=_SAME),
    "aten.view_copy.default": _RESHAPE,
    "aten.unsqueeze_copy.default": _RESHAPE,
    "aten.squeeze_copy.dims": _RESHAPE,
    "aten.slice_copy.Tensor": Row(slice_, _slice, moves=True, quantized=_SAME),
    "aten.constant_pad_nd.default": Row(constant_pad, _pad, moves=True),
}


def why_not(node: Node, constants: Constants) -> str:
    """Why XNNPACK does not take a call; empty when it does."""
    row = TABLE.get(op_name(node))
    if row is None:
        return "no row of the table"
    return _tensors(node) or row.check(node, constants)


def _tensors(node: Node) -> str:
    name = op_name(node)
    results = [node, *node.users] if isinstance(node.meta["val"], tuple | list) else [node]
    for each in (*node.all_input_nodes, *results):
        value = each.meta.get("val")
        if isinstance(value, tuple | list):
            continue
        stored = each is node.args[0] if name == DEQUANTIZE else each is node and name == QUANTIZE
        dtype = torch.int8 if stored else torch.float32
        if not isinstance(value, torch.Tensor) or value.dtype != dtype:
            return f"{each.name} is not of dtype {str(dtype).removeprefix('torch.')}"
        if value.dim() > MAX_RANK:
            return f"{each.name} has more than {MAX_RANK} dimensions"
        if 0 in shape_of(each):
            return f"{each.name} is empty"
    return ""
