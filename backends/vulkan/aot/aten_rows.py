# SPDX-License-Identifier: BSD-3-Clause
"""Rows of the operators of aten, of dimension orders and of sizes. Their names are those of the runtime."""

from __future__ import annotations

from functools import partial
from typing import Any

import torch
from torch.fx import Node

from executorch.backends.vulkan.aot.row import (
    ALL,
    BOOL,
    FLOATS,
    INTS,
    MOVED,
    NUMBERS,
    Int64,
    VulkanRow,
    argument,
    row,
    write_call,
)
from executorch.exir.backend.lowering.annotation import ARITHMETIC, SHARED, Annotation, Kind
from executorch.exir.backend.lowering.op_table import when
from executorch.exir.backend.lowering.steps import Step
from executorch.exir.graph_facts import arguments_by_name, op_name
from executorch.exir.sym_util import eval_shape_upper_bound

UNARY = "abs cos exp hardshrink hardswish neg sigmoid sin sqrt rsqrt tanh round leaky_relu"
SUMS = "sub.Tensor mul.Tensor"
WITH_NUMBERS = "add sub mul div"
DIVISIONS = "div.Tensor div.Tensor_mode pow.Tensor_Tensor"
COMPARISONS = "eq lt le gt ge"
LOGICAL = "bitwise_and.Tensor bitwise_or.Tensor logical_and.default logical_or.default"
COPIES = """view_copy.default permute_copy.default permute.default squeeze_copy.dims unsqueeze_copy.default
    slice_copy.Tensor"""
DATA_MOVEMENT = """clone.default alias_copy.default select_copy.int split_with_sizes_copy.default
    expand_copy.default t_copy.default flip.default constant_pad_nd.default repeat.default"""
REDUCTIONS = "mean.dim sum.dim_IntList amax.default amin.default"
FILLED = "full full_like ones ones_like zeros zeros_like"
# Its weights alone, or its input while running, too.
LINEAR = Annotation(Kind.GEMM, dynamic=("aten.linear.default",), weight_only=True)
SIZES = "add sub floordiv mul lt gt ge le eq"


def _is_plain_sampling(node: Node) -> bool:
    _, _, interpolation, padding, align = node.args
    return (interpolation, padding, align) == (0, 1, True)


def _selects_by_one_index(node: Node) -> bool:
    """Elements of one dimension, or rows by a list of places."""
    indices = [each for each in node.args[1] if each is not None]
    if len(indices) != 1:
        return False
    return 1 in (node.args[0].meta["val"].dim(), indices[0].meta["val"].dim())


def write_index(writer: Any, step: Step) -> None:
    source, indices = step.head.args
    if source.meta["val"].dim() == 1:
        write_call(writer, step)
        return
    (dim,) = (place for place, each in enumerate(indices) if each is not None)
    args = [writer.read(source), writer.scalar(dim), writer.argument(indices[dim])]
    writer.call("aten.index_select.default", args, step.head)


def write_with_number(writer: Any, step: Step) -> None:
    """As the form of two tensors, which is all that the runtime has."""
    node = step.head
    x, number, *alpha = arguments_by_name(node).values()
    dtype = node.meta["val"].dtype
    args = [writer.read(x), writer.number(node, number, dtype), *map(writer.argument, alpha)]
    writer.call(f"{op_name(node).removesuffix('.Scalar')}.Tensor", args, node)


def write_any(writer: Any, step: Step) -> None:
    """The largest of ones and zeros is one."""
    node = step.head
    source, given = node.args[0], arguments_by_name(node)
    dim = given.get("dim")
    every = list(range(source.meta["val"].dim()))
    dims = every if dim is None else [dim] if isinstance(dim, int) else list(dim)
    numbers, largest = (
        writer.tensor(torch.float32, eval_shape_upper_bound(each.meta["val"].shape))
        for each in (source, node)
    )
    writer.convert(writer.read(source), numbers)
    kept = [writer.argument(dims), writer.scalar(given.get("keepdim", False))]
    writer.call_on_ids("aten.amax.default", [numbers, *kept, largest])
    writer.call("aten.eq.Scalar", [largest, writer.scalar(1.0)], node)


def _has_channels(node: Node) -> bool:
    return node.args[0].meta["val"].dim() >= 2


def _has_dims_of_images(node: Node) -> bool:
    return node.args[0].meta["val"].dim() in (3, 4)


def _is_a_known_mode(node: Node) -> bool:
    return argument(node, "rounding_mode") in (None, "trunc", "floor")


def _keeps_the_dtype(node: Node) -> bool:
    """Sums in another dtype than that of what they read."""
    wanted = argument(node, "dtype")
    return wanted is None or wanted == node.args[0].meta["val"].dtype


def _keeps_its_dtype_or_converts(node: Node) -> bool:
    return node.meta["val"].dtype != torch.bool or node.args[0].meta["val"].dtype == torch.bool


DIMS_OF_IMAGES = when(_has_dims_of_images, "an image, or a batch of images, is expected")
KEPT_DTYPE = when(_keeps_the_dtype, "the dtype of the operand is expected")


def _elementwise() -> dict[str, VulkanRow]:
    rows = {f"aten.{name}.default": row(FLOATS) for name in UNARY.split()}
    rows |= {f"aten.{name}": row(NUMBERS, int64=Int64.WRAPPED) for name in SUMS.split()}
    rows |= {f"aten.{name}": row(NUMBERS, gives=FLOATS) for name in DIVISIONS.split()}
    rows |= {f"aten.{name}.Tensor": row(NUMBERS, gives=BOOL) for name in COMPARISONS.split()}
    rows |= {
        f"aten.{name}.Scalar": row(NUMBERS, gives=BOOL) for name in f"{COMPARISONS} ne".split()
    }
    rows |= {f"aten.{name}": row(BOOL) for name in LOGICAL.split()}
    rows |= {f"aten.{name}.default": row(BOOL) for name in ("bitwise_not", "logical_not")}
    rows |= {f"aten.any.{name}": row(BOOL, lower=write_any) for name in ("default", "dim", "dims")}
    rows |= {
        f"aten.{name}.Scalar": row(
            NUMBERS, gives=FLOATS if name == "div" else None, lower=write_with_number, int64=Int64.WRAPPED
        )
        for name in WITH_NUMBERS.split()
    }  # fmt: skip
    known_mode = when(_is_a_known_mode, "no rounding, or trunc or floor, is expected")
    return rows | {
        "aten.add.Tensor": row(NUMBERS, int64=Int64.WRAPPED, annotation=ARITHMETIC),
        "aten.relu.default": row(FLOATS, annotation=SHARED),
        "aten.hardtanh.default": row(FLOATS, annotation=SHARED),
        "aten.gelu.default": row(FLOATS),
        "aten.clamp.default": row(NUMBERS),
        "aten.minimum.default": row(NUMBERS),
        "aten.hardswish.default": row(FLOATS, preserved=True),
        "aten.div.Tensor_mode": row(NUMBERS, known_mode),
        "aten.pow.Tensor_Tensor": row(NUMBERS),
        "aten.pow.Tensor_Scalar": row(FLOATS),
        "aten.where.self": row((BOOL, FLOATS), gives=FLOATS),
    }


def _data_movement() -> dict[str, VulkanRow]:
    moved = partial(row, int64=Int64.MOVED)
    rows = {f"aten.{name}": moved(MOVED, annotation=SHARED) for name in COPIES.split()}
    rows |= {f"aten.{name}": moved(MOVED) for name in DATA_MOVEMENT.split()}
    converts = when(_keeps_its_dtype_or_converts, "numbers, or booleans as they are, are expected")
    return rows | {
        "aten._to_copy.default": moved(MOVED, converts, gives=MOVED),
        "dim_order_ops._to_dim_order_copy.default": moved(MOVED, converts, gives=MOVED),
        "dim_order_ops._clone_dim_order.default": moved(MOVED),
        "aten.cat.default": moved(NUMBERS),
        "aten.gather.default": moved((MOVED, MOVED, INTS), gives=MOVED, places=(2,)),
        "aten.index_select.default": moved((MOVED, MOVED, INTS), gives=MOVED, places=(2,)),
        "aten.index.Tensor": moved(
            (NUMBERS, INTS),
            when(_selects_by_one_index, "one tensor of indices, of one dimension or into one, is expected"),
            lower=write_index, places=(1,),
        ),
        "aten.embedding.default": row((FLOATS, INTS), prepacks=True, primary=1, places=(1,)),
    }  # fmt: skip


def _made() -> dict[str, VulkanRow]:
    """Of numbers alone."""
    made = partial(row, MOVED, int64=Int64.MADE)
    rows = {f"aten.{name}.default": made(gives=MOVED) for name in FILLED.split()}
    return rows | {"aten.arange.start_step": made(), "aten.scalar_tensor.default": made()}


def _computing() -> dict[str, VulkanRow]:
    rows = {f"aten.{name}": row(FLOATS) for name in ("_softmax.default", "_log_softmax.default")}
    rows |= {f"aten.{name}.default": row(FLOATS, prepacks=True) for name in ("mm", "bmm", "addmm")}
    rows |= {f"aten.{name}": row(FLOATS) for name in ("amax.default", "amin.default")}
    rows |= {
        f"aten.{name}": row(FLOATS, KEPT_DTYPE, annotation=SHARED)
        for name in ("mean.dim", "sum.dim_IntList")
    }
    return rows | {
        "aten.linear.default": row(FLOATS, prepacks=True, annotation=LINEAR),
        "aten.argmax.default": row(FLOATS, gives=INTS, int64=Int64.PLACES),
        "aten.argmin.default": row(FLOATS, gives=INTS, int64=Int64.PLACES),
        "aten.native_layer_norm.default": row(FLOATS, prepacks=True),
        "aten.native_group_norm.default": row(FLOATS, prepacks=True),
        "aten._native_batch_norm_legit_no_training.default": row(
            FLOATS, when(_has_channels, "a batch of channels is expected"), prepacks=True
        ),
    }


def _of_images() -> dict[str, VulkanRow]:
    sampled = when(
        _is_plain_sampling,
        "bilinear sampling with aligned corners and repeated borders is expected",
    )
    return {
        "aten.avg_pool2d.default": row(FLOATS, DIMS_OF_IMAGES),
        "aten.max_pool2d.default": row(FLOATS, DIMS_OF_IMAGES, annotation=SHARED),
        "aten.max_pool2d_with_indices.default": row(FLOATS, DIMS_OF_IMAGES, gives=(FLOATS, INTS), int64=Int64.PLACES),
        "aten.upsample_nearest2d.vec": row(FLOATS),
        "aten.upsample_bilinear2d.vec": row(FLOATS),
        "aten.pixel_shuffle.default": row(FLOATS, preserved=True),
        "aten.grid_sampler_2d.default": row(FLOATS, sampled),
    }  # fmt: skip


def _of_sizes() -> dict[str, VulkanRow]:
    rows = {f"operator.{name}": row(ALL) for name in SIZES.split()}
    return rows | {"aten.sym_size.int": row(ALL)}


def aten_rows() -> dict[str, VulkanRow]:
    return _elementwise() | _data_movement() | _made() | _computing() | _of_images() | _of_sizes()
