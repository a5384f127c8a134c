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
from torch.fx.experimental.symbolic_shapes import free_unbacked_symbols, statically_known_true

from executorch.backends.xnnpack.aot.graph_builder import GraphBuilder, num_varying, shape_of
from executorch.backends.xnnpack.aot.lower import (
    batch_matrix_multiply,
    clamp,
    concatenate,
    constant_pad,
    convert,
    elementwise,
    fully_connected,
    global_average,
    matrix_product,
    pool,
    repeat,
    reshape,
    resize_bilinear,
    same,
    select,
    slice_,
    softmax,
    transpose,
)
from executorch.backends.xnnpack.aot.lower_convolution import convolution
from executorch.backends.xnnpack.aot.lower_norm import (
    batch_norm,
    layer_norm,
    mean_of_rows,
    parametric_relu,
    sum_of_rows,
)
from executorch.backends.xnnpack.aot.quantization import DEQUANTIZE, QUANTIZE, parameters_of
from executorch.backends.xnnpack.aot.steps import (
    BATCH_NORM,
    CONVOLUTION,
    Step,
    first_item,
    limits_of,
    op_name,
)
from executorch.backends.xnnpack.aot.value_types import value_of

Constants = Collection[Node]
MAX_RANK = 6
MOST_REPEATED = 25


class Quantized(Enum):
    """How an operator works on 8-bit values."""

    NO = 0
    WEIGHTED = 1  # constant weights, results of a range of their own
    ARITHMETIC = 2  # results of a range of their own
    SAME = 3  # results of the range of the inputs
    LOOKUP = 4  # a table of all 256 results; not quantized for that


@dataclass(frozen=True)
class Row:
    """`check` gives the reason why not, or nothing. `moves`: no arithmetic, not worth a delegate of its own.
    `slower`: why it stays outside unless it is asked for by name."""

    lower: Callable[[GraphBuilder, Step], None]
    check: Callable[[Node, Constants], str] = lambda node, constants: ""
    moves: bool = False
    slower: str = ""
    quantized: Quantized = Quantized.NO


def argument(node: Node, position: int, name: str, default: Any = None) -> Any:
    if len(node.args) > position:
        return node.args[position]
    return node.kwargs.get(name, default)


def _sizes(node: Node) -> tuple[Any, ...]:
    return tuple(node.meta["val"].shape)


def _convolution(node: Node, constants: Constants) -> str:
    weight, bias = node.args[1], node.args[2]
    if weight not in constants or (bias is not None and bias not in constants):
        return "weight and bias must be constant"
    if len(_sizes(node)) not in (3, 4):
        return "one or two spatial dimensions are expected"
    if len(_sizes(node)) == 3 and (num_varying(node) > 1 or num_varying(node.args[0]) > 1):
        return "at most one size may vary"
    padding, transposed, output_padding = node.args[4], node.args[6], node.args[7]
    values = (*node.args[3], *padding, *node.args[5], *output_padding)
    if not all(isinstance(value, int) for value in values):
        return "parameters must be numbers"
    strides = node.args[3]
    if transposed and any(o >= s for o, s in zip(output_padding, strides, strict=False)):
        return "output padding must be below the stride"
    return ""


def _batch_norm(node: Node, constants: Constants) -> str:
    if any(arg is not None and arg not in constants for arg in node.args[1:5]):
        return "statistics must be constant"
    return "" if first_item(node) is not None else "only its first output may be used"


def _layer_norm(node: Node, constants: Constants) -> str:
    if first_item(node) is None:
        return "only its first output may be used"
    if any(arg is not None and arg not in constants for arg in node.args[2:4]):
        return "weight and bias must be constant"
    return _rows(node.args[0], len(node.args[1])) or _view(first_item(node), constants)


def _rows(source: Node, dims: int) -> str:
    inner = _sizes(source)[-dims:]
    varies = any(isinstance(size, torch.SymInt) for size in inner)
    return "what is averaged must not vary in size" if varies else ""


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
    if node.kwargs.get("dtype") is not None:
        return "dtype is not supported"
    if is_over_image(node):
        return ""
    rank, dims = len(_sizes(node.args[0])), argument(node, 1, "dim") or []
    if rank == 0 or sorted(dim % rank for dim in dims) != list(range(rank - len(dims), rank)):
        return "the mean over the last dimensions is expected"
    return _rows(node.args[0], len(dims)) or _view(node, constants) if dims else "no dimension"


def is_over_image(node: Node) -> bool:
    dims = argument(node, 1, "dim") or []
    return len(_sizes(node.args[0])) == 4 and sorted(dim % 4 for dim in dims) == [2, 3]


def _sum(node: Node, constants: Constants) -> str:
    return "the sum over an image" if is_over_image(node) else _mean(node, constants)


def mean(builder: GraphBuilder, step: Step) -> None:
    lower = global_average if is_over_image(step.head) else mean_of_rows
    lower(builder, step)


_POWERS = {2: "XNNSquare", 0.5: "XNNSquareRoot", -0.5: "XNNReciprocalSquareRoot"}


def _power(node: Node, constants: Constants) -> str:
    return "" if node.args[1] in _POWERS else f"an exponent of {list(_POWERS)} is expected"


def power(builder: GraphBuilder, step: Step) -> None:
    elementwise(_POWERS[step.head.args[1]])(builder, step)


def _prelu(node: Node, constants: Constants) -> str:
    if len(_sizes(node)) < 2:
        return "channels are expected"
    return "" if node.args[1] in constants else "weights must be constant"


def _resize(node: Node, constants: Constants) -> str:
    if len(_sizes(node)) != 4 or num_varying(node) or num_varying(node.args[0]):
        return "four dimensions that do not vary are expected"
    scales = argument(node, 3, "scale_factors")
    before, after = _sizes(node.args[0])[2:], _sizes(node)[2:]
    if scales and any(o * s != n for o, s, n in zip(before, scales, after, strict=True)):
        return "scales must give whole sizes"
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


def covers_image(node: Node) -> bool:
    """A window in which all of the image lies, once."""
    before, after, kernel = _sizes(node.args[0])[2:], _sizes(node)[2:], node.args[1]
    if len(_sizes(node)) != 4 or any(argument(node, 3, "padding") or []):
        return False
    fits = all(isinstance(b, int) and k >= b for k, b in zip(kernel * 2, before, strict=False))
    return fits and list(after) == [1, 1]


def average(builder: GraphBuilder, step: Step) -> None:
    lower = global_average if covers_image(step.head) else pool("XNNAvgPooling2d")
    lower(builder, step)


def _average_pool(node: Node, constants: Constants) -> str:
    padding = argument(node, 3, "padding", [0, 0])
    if any(padding) and argument(node, 5, "count_include_pad", True):
        return "padding must not count"
    if argument(node, 6, "divisor_override") is not None:
        return "divisor_override is not supported"
    if covers_image(node):
        return ""
    return _window(node, argument(node, 4, "ceil_mode", False))


def _cat(node: Node, constants: Constants) -> str:
    count = len(node.args[0])
    return "" if count >= 2 else "at least two tensors are expected"


def _view(node: Node, constants: Constants) -> str:
    return "" if num_varying(node) <= 1 else "at most one size may vary"


def _slice(node: Node, constants: Constants) -> str:
    if argument(node, 4, "step", 1) != 1:
        return "a step of 1 is expected"
    dim = argument(node, 1, "dim", 0)
    return _cut(node.args[0], dim, argument(node, 2, "start") or 0, _sizes(node)[dim])


def _select(node: Node, constants: Constants) -> str:
    source, dim, index = node.args
    return _cut(source, dim, index, 1) or _view(node, constants)


def _cut(source: Node, dim: int, start: Any, size: Any) -> str:
    """A number of elements from a fixed place; of a dimension that varies, counted from its begin."""
    if not isinstance(start, int) or not isinstance(size, int):
        return "what is cut must not vary"
    is_fixed = start >= 0 or isinstance(_sizes(source)[dim], int)
    return "" if is_fixed else "a place counted from an end that varies"


def _same(node: Node, constants: Constants) -> str:
    before, after = node.args[0].meta["val"], node.meta["val"]
    if node.args[0] in constants:
        return "a constant"
    kept = before.shape == after.shape and before.stride() == after.stride()
    return "" if kept else "a copy that changes nothing is expected"


def _expand(node: Node, constants: Constants) -> str:
    before, after = _sizes(node.args[0]), _sizes(node)
    if len(before) != len(after) or node.args[0] in constants:
        return "a value of the same number of dimensions is expected"
    repeated = [new for old, new in zip(before, after, strict=True) if str(old) != str(new)]
    if len(repeated) != 1 or not isinstance(repeated[0], int) or repeated[0] > MOST_REPEATED:
        return f"one dimension, repeated at most {MOST_REPEATED} times, is expected"
    return ""


def _values_product(node: Node, constants: Constants) -> str:
    if node.args[0] in constants:
        return "the first matrix must not be constant"
    vary = any(num_varying(each) > 1 for each in (*node.args, node))
    return "at most one size may vary" if vary else ""


def _matrix_product(node: Node, constants: Constants) -> str:
    *bias, _, weight = node.args
    if not bias and weight not in constants:
        return _values_product(node, constants)
    if any(each not in constants for each in (*bias, weight)):
        return "weight and bias must be constant"
    if any(len(_sizes(each)) != 1 for each in bias):
        return "a bias of one dimension is expected"
    return "" if all(each == 1 for each in node.kwargs.values()) else "factors must be 1"


def _pad(node: Node, constants: Constants) -> str:
    return "" if all(isinstance(p, int) and p >= 0 for p in node.args[1]) else "negative padding"


def _bmm(node: Node, constants: Constants) -> str:
    return "" if node.args[0] not in constants else "the first matrix must not be constant"


def _convert(node: Node, constants: Constants) -> str:
    if parameters_of(node) is None:
        return "the whole range of int8 is expected"
    return "" if node.args[0] not in constants else "it is computed ahead"


def _unary(kind: str, quantized: Quantized = Quantized.NO) -> Row:
    return Row(elementwise(kind), quantized=quantized)


# CPU time of ViT (25 norms of 197 rows of 192) and BERT (9 of 128 rows of 256) on an AVX-512 machine, norms inside in
# nine nodes / outside in 26 and 9 delegates instead of one: 29.7 / 27.9 ms and 10.5 / 9.8 ms.
_NORM_OUTSIDE = "one pass of the optimized kernel is faster than XNNPACK's nine"
_SAME = Quantized.SAME
_CLAMP = Row(clamp, _clamp, quantized=_SAME)
_RESHAPE = Row(reshape, _view, moves=True, quantized=_SAME)

TABLE: dict[str, Row] = {
    CONVOLUTION: Row(convolution, _convolution, quantized=Quantized.WEIGHTED),
    BATCH_NORM: Row(batch_norm, _batch_norm),
    QUANTIZE: Row(convert, _convert, moves=True),
    DEQUANTIZE: Row(convert, _convert, moves=True),
    "aten.linear.default": Row(fully_connected, _linear, quantized=Quantized.WEIGHTED),
    "aten.addmm.default": Row(matrix_product, _matrix_product),
    "aten.mm.default": Row(matrix_product, _matrix_product),
    "aten.bmm.default": Row(batch_matrix_multiply, _bmm),
    "aten.add.Tensor": Row(elementwise("XNNAdd"), _with_alpha, quantized=Quantized.ARITHMETIC),
    "aten.sub.Tensor": Row(elementwise("XNNSubtract"), _with_alpha),
    "aten.mul.Tensor": Row(elementwise("XNNMultiply"), quantized=Quantized.ARITHMETIC),
    "aten.div.Tensor": _unary("XNNDiv"),
    "aten.maximum.default": _unary("XNNMaximum"),
    "aten.minimum.default": _unary("XNNMinimum"),
    "aten.abs.default": _unary("XNNAbs"),
    "aten.ceil.default": _unary("XNNCeiling"),
    "aten.cos.default": _unary("XNNCos"),
    "aten.exp.default": _unary("XNNExp"),
    "aten.floor.default": _unary("XNNFloor"),
    "aten.gelu.default": Row(elementwise("XNNGelu"), _gelu, quantized=Quantized.LOOKUP),
    "aten.hardswish.default": _unary("XNNHardswish", Quantized.LOOKUP),
    "aten.log.default": _unary("XNNLog"),
    "aten.neg.default": _unary("XNNNegate"),
    "aten.rsqrt.default": _unary("XNNReciprocalSquareRoot"),
    "aten.pow.Tensor_Scalar": Row(power, _power),
    "aten.sigmoid.default": _unary("XNNSigmoid", Quantized.LOOKUP),
    "aten.sin.default": _unary("XNNSin"),
    "aten.sqrt.default": _unary("XNNSquareRoot"),
    "aten.tanh.default": _unary("XNNTanh", Quantized.LOOKUP),
    "aten.prelu.default": Row(parametric_relu, _prelu),
    "aten.leaky_relu.default": Row(elementwise("XNNLeakyReLU", "negative_slope", 0.01)),
    "aten.elu.default": Row(elementwise("XNNELU", "alpha", 1.0), _elu),
    "aten.relu.default": _CLAMP,
    "aten.hardtanh.default": _CLAMP,
    "aten.clamp.default": _CLAMP,
    "aten._softmax.default": Row(softmax, _softmax),
    "aten.mean.dim": Row(mean, _mean, quantized=Quantized.ARITHMETIC),
    "aten.sum.dim_IntList": Row(sum_of_rows, _sum),
    "aten.native_layer_norm.default": Row(layer_norm, _layer_norm, slower=_NORM_OUTSIDE),
    "aten.max_pool2d_with_indices.default": Row(
        pool("XNNMaxPooling2d"), _max_pool, quantized=_SAME
    ),
    "aten.avg_pool2d.default": Row(average, _average_pool),
    "aten.upsample_bilinear2d.vec": Row(resize_bilinear, _resize),
    "aten.cat.default": Row(concatenate, _cat, moves=True, quantized=_SAME),
    "aten.permute_copy.default": Row(transpose, moves=True, quantized=_SAME),
    "aten.view_copy.default": _RESHAPE,
    "aten.unsqueeze_copy.default": _RESHAPE,
    "aten.squeeze_copy.dims": _RESHAPE,
    "aten.slice_copy.Tensor": Row(slice_, _slice, moves=True, quantized=_SAME),
    "aten.select_copy.int": Row(select, _select, moves=True),
    "aten.expand_copy.default": Row(repeat, _expand, moves=True),
    "aten.clone.default": Row(same, _same, moves=True),
    "dim_order_ops._clone_dim_order.default": Row(same, _same, moves=True),
    "aten.constant_pad_nd.default": Row(constant_pad, _pad, moves=True, quantized=_SAME),
}


# Nodes of XNNPACK that an edge program has in pieces unless it is asked not to.
KEPT_WHOLE = [
    torch.ops.aten.hardswish.default,
    torch.ops.aten.prelu.default,
    torch.ops.aten.upsample_bilinear2d.vec,
]


def why_not(node: Node, constants: Constants) -> str:
    """Why XNNPACK does not take a call; empty when it does."""
    row = TABLE.get(op_name(node))
    if row is None:
        return "no row of the table"
    return tensors_why_not(node) or row.check(node, constants)


def tensors_why_not(node: Node) -> str:
    """Why XNNPACK does not take the tensors of a call, whatever it computes; empty when it does."""
    name = op_name(node)
    results = [node, *node.users] if isinstance(node.meta["val"], tuple | list) else [node]
    is_half = value_of(node).dtype == torch.float16
    float_type = torch.float16 if is_half and name != DEQUANTIZE else torch.float32
    for each in (*node.all_input_nodes, *results):
        value = each.meta.get("val")
        if isinstance(value, tuple | list):
            continue
        stored = each is node.args[0] if name == DEQUANTIZE else each is node and name == QUANTIZE
        dtype = torch.int8 if stored else float_type
        if not isinstance(value, torch.Tensor) or value.dtype != dtype:
            return f"{each.name} is not of dtype {str(dtype).removeprefix('torch.')}"
        if value.dim() > MAX_RANK:
            return f"{each.name} has more than {MAX_RANK} dimensions"
        if 0 in shape_of(each):
            return f"{each.name} is empty"
        if any(free_unbacked_symbols(s) and not statically_known_true(s > 0) for s in value.shape):
            return f"{each.name} has a size that data decide, which may be 0"
    return ""
