# SPDX-License-Identifier: BSD-3-Clause
"""Under which conditions XNNPACK takes a call, for the rows of ops.py. Of the conditions of a row, later ones rely on
earlier ones."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import torch
from torch.fx import Node
from torch.fx.experimental.symbolic_shapes import free_unbacked_symbols, statically_known_true

from executorch.backends.xnnpack.aot.conv3d import interleaves_depth, is_3d
from executorch.backends.xnnpack.aot.graph_builder import shape_of
from executorch.backends.xnnpack.aot.quantization import DEQUANTIZE, QUANTIZE, parameters_of
from executorch.backends.xnnpack.aot.steps import has_limits
from executorch.backends.xnnpack.aot.value_types import value_of
from executorch.exir.backend.lowering.op_table import (
    Condition,
    Constants,
    TensorCondition,
    dtype_text,
)
from executorch.exir.backend.lowering.steps import first_item
from executorch.exir.graph_facts import num_dynamic_sizes, op_name

MAX_RANK = 6
MAX_REPEATED = 25
SHORT_ROW, FEW_ROWS = 8, 4096
POWERS = {2: "XNNSquare", 0.5: "XNNSquareRoot", -0.5: "XNNReciprocalSquareRoot"}

Test = Callable[[Node, Constants], bool]


def argument(node: Node, position: int, name: str, default: Any = None) -> Any:
    if len(node.args) > position:
        return node.args[position]
    return node.kwargs.get(name, default)


def sizes_of(node: Node) -> tuple[Any, ...]:
    return tuple(node.meta["val"].shape)


def is_over_image(node: Node) -> bool:
    """Over all that is behind the channels of an image, or of NCDHW with static sizes."""
    rank, dims = len(sizes_of(node.args[0])), argument(node, 1, "dim") or []
    if rank not in (4, 5) or (rank == 5 and num_dynamic_sizes(node.args[0])):
        return False
    return sorted(dim % rank for dim in dims) == list(range(2, rank))


def covers_image(node: Node) -> bool:
    """A window that covers the whole image, once."""
    before, after, kernel = sizes_of(node.args[0])[2:], sizes_of(node)[2:], node.args[1]
    if len(sizes_of(node)) != 4 or any(argument(node, 3, "padding") or []):
        return False
    fits = all(isinstance(b, int) and k >= b for k, b in zip(kernel * 2, before, strict=False))
    return fits and list(after) == [1, 1]


# ---- Tensors, of every row ----


def _has_its_dtype(tensor: Node, call: Node) -> bool:
    """All of one float type; of quantize and dequantize, one side int8; of a conversion, two float types."""
    value, name = tensor.meta.get("val"), op_name(call)
    if name == CONVERSION:
        return isinstance(value, torch.Tensor) and value.dtype in (torch.float16, torch.float32)
    stored = tensor is call.args[0] if name == DEQUANTIZE else tensor is call and name == QUANTIZE
    is_half = value_of(call).dtype == torch.float16 and name != DEQUANTIZE
    dtype = torch.int8 if stored else torch.float16 if is_half else torch.float32
    return isinstance(value, torch.Tensor) and value.dtype == dtype


def _may_be_empty(tensor: Node, call: Node) -> bool:
    sizes = sizes_of(tensor)
    return any(free_unbacked_symbols(s) and not statically_known_true(s > 0) for s in sizes)


OF_TENSORS = (
    TensorCondition(
        _has_its_dtype,
        "one float type throughout is expected, int8 where quantized",
        dtype_text,
    ),
    TensorCondition(
        lambda tensor, call: len(sizes_of(tensor)) <= MAX_RANK,
        f"at most {MAX_RANK} dimensions are expected",
    ),
    TensorCondition(
        lambda tensor, call: 0 not in shape_of(tensor), "at least one element is expected"
    ),
    TensorCondition(
        lambda tensor, call: not _may_be_empty(tensor, call),
        "sizes that data decide must be more than 0",
    ),
)


# ---- What several rows share ----


def _static(*positions: int) -> Test:
    """Arguments that may be left out, or else are constants."""

    def test(node: Node, constants: Constants) -> bool:
        given = [node.args[position] for position in positions if position < len(node.args)]
        return all(each is None or each in constants for each in given)

    return test


def _fixed_rows(source: Node, num_dims: int) -> bool:
    return all(isinstance(size, int) for size in sizes_of(source)[-num_dims:])


WEIGHTS = "weight and bias must be constant"
FIRST_OUTPUT = Condition(
    lambda node, constants: first_item(node) is not None, "only its first output may be used"
)
ONE_DYNAMIC_SIZE = "at most one size may be dynamic"
RESHAPED = Condition(lambda node, constants: num_dynamic_sizes(node) <= 1, ONE_DYNAMIC_SIZE)
STATIC_NCDHW = "static sizes are expected of NCDHW"
FIXED_ROWS = "sizes that are averaged must be static"
NOT_CONSTANT = Condition(
    lambda node, constants: node.args[0] not in constants,
    "the first matrix must not be constant",
)


# ---- Weights ----


def _are_numbers(node: Node, constants: Constants) -> bool:
    values = (*node.args[3], *node.args[4], *node.args[5], *node.args[7])
    return all(isinstance(value, int) for value in values)


def _pads_below_stride(node: Node, constants: Constants) -> bool:
    below = all(o < s for o, s in zip(node.args[7], node.args[3], strict=False))
    return below or not node.args[6]


def _gives_a_stride(node: Node, constants: Constants) -> bool:
    """XNNPACK counts the results of each place within a stride, and with fewer than a stride some below 0."""
    results = sizes_of(node)[2:]
    strides = list(node.args[3]) * (len(results) // len(node.args[3]))
    pairs = list(zip(results, strides, strict=True))[-2:]  # of conv3d, depth is another step
    return not node.args[6] or all(statically_known_true(size >= step) for size, step in pairs)


def _of_3d(test: Callable[[Node], bool]) -> Test:
    return lambda node, constants: not is_3d(node) or test(node)


CONVOLUTION = (
    Condition(_static(1, 2), WEIGHTS),
    Condition(
        lambda node, constants: len(sizes_of(node)) in (3, 4, 5),
        "one to three spatial dimensions are expected",
    ),
    Condition(
        lambda node, constants: (
            len(sizes_of(node)) != 3
            or (num_dynamic_sizes(node) <= 1 and num_dynamic_sizes(node.args[0]) <= 1)
        ),
        ONE_DYNAMIC_SIZE,
    ),
    Condition(_are_numbers, "parameters must be numbers"),
    Condition(_pads_below_stride, "output padding must be below the stride"),
    Condition(
        _of_3d(lambda node: num_dynamic_sizes(node) + num_dynamic_sizes(node.args[0]) == 0),
        STATIC_NCDHW,
    ),
    Condition(_of_3d(lambda node: node.args[8] == 1), "groups of conv3d are not supported"),
    Condition(
        _of_3d(
            lambda node: (
                not node.args[6]
                or interleaves_depth(node, node.args[1], node.args[3], node.args[5])
            )
        ),
        "a transposed convolution whose stride divides its depth",
    ),
    Condition(_gives_a_stride, "a transposed convolution of a stride of results or more"),
)
BATCH_NORM = (Condition(_static(1, 2, 3, 4), "statistics must be constant"), FIRST_OUTPUT)
LAYER_NORM = (
    FIRST_OUTPUT,
    Condition(_static(2, 3), WEIGHTS),
    Condition(
        lambda node, constants: _fixed_rows(node.args[0], len(node.args[1])),
        FIXED_ROWS,
    ),
    Condition(lambda node, constants: num_dynamic_sizes(first_item(node)) <= 1, ONE_DYNAMIC_SIZE),
)
GROUP_NORM = (
    FIRST_OUTPUT,
    Condition(lambda node, constants: all(each in constants for each in node.args[1:3]), WEIGHTS),
    Condition(lambda node, constants: node.args[6] == 1, "one group is expected"),
    Condition(
        lambda node, constants: len(sizes_of(node.args[0])) in (3, 4),
        "one or two spatial dimensions are expected",
    ),
    Condition(
        lambda node, constants: node.args[0].meta["val"].dtype == torch.float32,
        "squares may be beyond half precision",
    ),
    Condition(lambda node, constants: num_dynamic_sizes(node.args[0]) == 0, FIXED_ROWS),
)
LINEAR = (
    Condition(
        lambda node, constants: all(
            each is None or each in constants for each in (node.args[1], argument(node, 2, "bias"))
        ),
        WEIGHTS,
    ),
    Condition(
        lambda node, constants: node.args[1].meta["val"].dim() == 2,
        "a weight of two dimensions is expected",
    ),
)
PRELU = (
    Condition(lambda node, constants: len(sizes_of(node)) >= 2, "channels are expected"),
    Condition(_static(1), "weights must be constant"),
)


def _of_values(test: Test) -> Test:
    """Of a product of two values that are computed."""
    return lambda node, constants: node.args[1] in constants or test(node, constants)


PRODUCT = (
    Condition(_of_values(NOT_CONSTANT.test), NOT_CONSTANT.reason),
    Condition(
        _of_values(
            lambda node, constants: all(num_dynamic_sizes(each) <= 1 for each in (*node.args, node))
        ),
        ONE_DYNAMIC_SIZE,
    ),
)
PRODUCT_AND_BIAS = (
    Condition(
        lambda node, constants: node.args[0] in constants and node.args[2] in constants, WEIGHTS
    ),
    Condition(
        lambda node, constants: sizes_of(node.args[0]) == sizes_of(node.args[2])[1:],
        "a bias of one number for each column is expected",
    ),
    Condition(
        lambda node, constants: all(each == 1 for each in node.kwargs.values()),
        "factors must be 1",
    ),
)


# ---- Element by element ----

ALPHA = (Condition(lambda node, constants: node.kwargs.get("alpha", 1) == 1, "alpha must be 1"),)
GELU = (
    Condition(
        lambda node, constants: node.kwargs.get("approximate", "none") == "none",
        "the exact form is expected",
    ),
)
ELU = (
    Condition(lambda node, constants: all(arg == 1 for arg in node.args[2:]), "scales must be 1"),
)
CLAMP = (
    Condition(
        lambda node, constants: has_limits(node),
        "limits must be numbers, the lower one first",
    ),
)
POWER = (
    Condition(
        lambda node, constants: node.args[1] in POWERS, f"an exponent of {list(POWERS)} is expected"
    ),
)
CONVERSION = "dim_order_ops._to_dim_order_copy.default"
OTHER_FLOAT = (
    Condition(
        lambda node, constants: value_of(node).dtype != value_of(node.args[0]).dtype,
        "another float type is expected",
    ),
    Condition(
        lambda node, constants: value_of(node).dim_order() == value_of(node.args[0]).dim_order(),
        "the same order of dimensions is expected",
    ),
    Condition(lambda node, constants: node.args[0] not in constants, "it is computed ahead"),
)
CONVERT = (
    Condition(
        lambda node, constants: parameters_of(node) is not None,
        "the whole range of int8 and a scale above 0 are expected",
    ),
    Condition(lambda node, constants: node.args[0] not in constants, "it is computed ahead"),
)


# ---- Along dimensions ----


def _is_over_last(node: Node, constants: Constants) -> bool:
    rank, dims = len(sizes_of(node.args[0])), argument(node, 1, "dim") or []
    return rank > 0 and sorted(dim % rank for dim in dims) == list(range(rank - len(dims), rank))


def _of_rows(test: Test) -> Test:
    """Of a mean that is not over an image."""
    return lambda node, constants: is_over_image(node) or test(node, constants)


def is_across_rows(softmax: Node) -> bool:
    """Along another dimension than the last, which takes transposes."""
    return softmax.args[1] not in (-1, len(sizes_of(softmax)) - 1)


def _rows_are_long_or_few(node: Node, constants: Constants) -> bool:
    """A row of few elements costs as much as one of a vector."""
    sizes = list(sizes_of(node))
    along = sizes.pop(node.args[1])
    static = all(isinstance(size, int) for size in (along, *sizes))
    return (
        not is_across_rows(node)
        or (isinstance(along, int) and along >= SHORT_ROW)
        or (static and torch.Size(sizes).numel() <= FEW_ROWS)
    )


SOFTMAX = (
    Condition(
        _rows_are_long_or_few,
        f"along another dimension than the last, {SHORT_ROW} elements or more, or at most {FEW_ROWS} static rows, are "
        "expected",
    ),
)
MEAN = (
    Condition(lambda node, constants: node.kwargs.get("dtype") is None, "dtype is not supported"),
    Condition(_of_rows(_is_over_last), "the mean over the last dimensions is expected"),
    Condition(
        _of_rows(lambda node, constants: bool(argument(node, 1, "dim"))),
        "a dimension is expected",
    ),
    Condition(
        _of_rows(lambda node, constants: _fixed_rows(node.args[0], len(argument(node, 1, "dim")))),
        FIXED_ROWS,
    ),
    Condition(_of_rows(RESHAPED.test), ONE_DYNAMIC_SIZE),
)
SUM = (
    Condition(
        lambda node, constants: len(sizes_of(node.args[0])) != 4 or not is_over_image(node),
        "the sum over an image",
    ),
    *MEAN,
)


# ---- Moves ----


def _cut(where: Callable[[Node], tuple[int, Any, Any]]) -> tuple[Condition, ...]:
    """A number of elements from a static start; of a dynamic dimension, counted from its beginning. `where` gives the
    dimension, the begin and the number."""

    def is_fixed(node: Node, constants: Constants) -> bool:
        _, start, size = where(node)
        return isinstance(start, int) and isinstance(size, int)

    def is_counted_from_a_fixed_end(node: Node, constants: Constants) -> bool:
        dim, start, _ = where(node)
        return start >= 0 or isinstance(sizes_of(node.args[0])[dim], int)

    return (
        Condition(is_fixed, "start and length of what is cut must be static"),
        Condition(
            is_counted_from_a_fixed_end, "a place counted from the end of a dynamic dimension"
        ),
    )


def _of_slice(node: Node) -> tuple[int, Any, Any]:
    dim = argument(node, 1, "dim", 0)
    return dim, argument(node, 2, "start") or 0, sizes_of(node)[dim]


def _repeats_one(node: Node, constants: Constants) -> bool:
    sizes = zip(sizes_of(node.args[0]), sizes_of(node), strict=True)
    repeated = [new for old, new in sizes if str(old) != str(new)]
    return len(repeated) == 1 and isinstance(repeated[0], int) and repeated[0] <= MAX_REPEATED


def _changes_nothing(node: Node, constants: Constants) -> bool:
    before, after = node.args[0].meta["val"], node.meta["val"]
    return before.shape == after.shape and before.stride() == after.stride()


CONCATENATE = (
    Condition(lambda node, constants: len(node.args[0]) >= 2, "at least two tensors are expected"),
)
SLICE = (
    Condition(lambda node, constants: argument(node, 4, "step", 1) == 1, "a step of 1 is expected"),
    *_cut(_of_slice),
)
SELECT = (*_cut(lambda node: (node.args[1], node.args[2], 1)), RESHAPED)
CLONE = (
    Condition(lambda node, constants: node.args[0] not in constants, "a constant"),
    Condition(_changes_nothing, "a copy that changes nothing is expected"),
)
EXPAND = (
    Condition(
        lambda node, constants: (
            len(sizes_of(node.args[0])) == len(sizes_of(node)) and node.args[0] not in constants
        ),
        "a value of the same number of dimensions is expected",
    ),
    Condition(_repeats_one, f"one dimension, repeated at most {MAX_REPEATED} times, is expected"),
)
PAD = (
    Condition(
        lambda node, constants: all(isinstance(p, int) and p >= 0 for p in node.args[1]),
        "negative padding",
    ),
)
