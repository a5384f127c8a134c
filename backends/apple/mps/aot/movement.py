# SPDX-License-Identifier: BSD-3-Clause
"""Rows of data movement, of copies in other dtypes, and of tensors made of numbers."""

from __future__ import annotations

from typing import Any

import torch
from torch.fx import Node

from executorch.backends.apple.mps.aot.row import (
    ALL,
    FLOATS,
    MpsRow,
    argument,
    is_exact,
    rank,
    row,
    sizes,
    value_of,
    wrapped,
)
from executorch.exir.backend.lowering.op_table import when

# ---- Movement ----


def _moved(writer: Any, call: Node, kind: str, **more: Any) -> None:
    source = writer.read(call.args[0])
    writer.add(f"MPS{kind}", input1_id=source, output_id=writer.write(call), **more)


def permute(writer: Any, step: Any) -> None:
    call = step.head
    perm = list(call.args[1])
    _moved(writer, call, "Permute", num_dims=len(perm), perm=perm)


def view(writer: Any, step: Any) -> None:
    call = step.head
    writer.view(writer.read(call.args[0]), writer.write(call))


def expand(writer: Any, step: Any) -> None:
    call = step.head
    writer.expand(writer.read(call.args[0]), writer.write(call))


def unsqueeze(writer: Any, step: Any) -> None:
    _moved(writer, step.head, "Unsqueeze", dim=step.head.args[1])


def squeeze(writer: Any, step: Any) -> None:
    call = step.head
    source = call.args[0]
    dims = [wrapped(each, source) for each in call.args[1]]
    dims = [each for each in dims if sizes(source)[each] == 1]
    if dims:
        _moved(writer, call, "Squeeze", dims=dims)
    else:
        alias(writer, step)


def alias(writer: Any, step: Any) -> None:
    writer.define(step.head, writer.read(step.head.args[0]))


def select(writer: Any, step: Any) -> None:
    call = step.head
    source, dim, index = call.args
    _moved(writer, call, "Select", dim=wrapped(dim, source), index=index)


def slice_of(call: Node) -> tuple[int, int, int, int]:
    """Dimension, start, end and step, with what counts from the end wrapped."""
    source = call.args[0]
    dim = wrapped(argument(call, "dim"), source)
    size = sizes(source)[dim]
    return dim, *slice(*(argument(call, name) for name in ("start", "end", "step"))).indices(size)


def cut(writer: Any, step: Any) -> None:
    dim, start, end, stride = slice_of(step.head)
    _moved(writer, step.head, "Slice", dim=dim, start=start, end=end, step=stride)


def split(writer: Any, step: Any) -> None:
    call = step.head
    source = writer.read(call.args[0])
    outputs = [writer.item(call, place) for place in range(len(call.meta["val"]))]
    writer.add(
        "MPSSplitWithSizes",
        input1_id=source, output_ids=outputs, split_sizes=list(call.args[1]),
        dim=wrapped(argument(call, "dim"), call.args[0]),
    )  # fmt: skip


def cat(writer: Any, step: Any) -> None:
    call = step.head
    ids = [writer.operand(each, value_of(call).dtype) for each in call.args[0]]
    dim = wrapped(argument(call, "dim"), call)
    writer.add("MPSCat", input_ids=ids, output_id=writer.write(call), dim=dim)


def shuffle(writer: Any, step: Any) -> None:
    _moved(writer, step.head, "PixelShuffle", upscale_factor=step.head.args[1])


def pad(writer: Any, step: Any) -> None:
    call = step.head
    value = float(argument(call, "value"))
    _moved(writer, call, "ConstantPadND", pad=list(call.args[1]), value=value)


# ---- Dtypes ----


def convert(writer: Any, step: Any) -> None:
    """A test for what is not 0, where booleans are asked for. What is the same in halves is still a value of its own:
    results are said to be of the program's dtype."""
    call = step.head
    source, dtype = call.args[0], value_of(call).dtype
    before = value_of(source).dtype
    if dtype == torch.bool:
        left = writer.read(source)
        right = writer.operand(0, before, rank(call))
        writer.add("MPSNe", input1_id=left, input2_id=right, output_id=writer.write(call))
    elif writer.dtype_inside(dtype) == writer.dtype_inside(before):
        _moved(writer, call, "Cast", dtype=writer.data_type(dtype))
    else:
        writer.define(call, writer.cast(writer.read(source), dtype))


# ---- Made of numbers ----


def _filled(writer: Any, call: Node, number: float) -> None:
    made = writer.write(call)
    dtype = writer.data_type(value_of(call).dtype)
    writer.add("MPSFull", output_id=made, shape=sizes(call), fill_value=float(number), dtype=dtype)


def full(writer: Any, step: Any) -> None:
    _filled(writer, step.head, step.head.args[1])


def scalar(writer: Any, step: Any) -> None:
    _filled(writer, step.head, step.head.args[0])


def empty(writer: Any, step: Any) -> None:
    _filled(writer, step.head, 0)


def full_like(writer: Any, step: Any) -> None:
    call = step.head
    dtype = writer.data_type(value_of(call).dtype)
    _moved(writer, call, "FullLike", fill_value=float(call.args[1]), dtype=dtype)


def arange(writer: Any, step: Any) -> None:
    call = step.head
    start, end, stride = (float(argument(call, name)) for name in ("start", "end", "step"))
    dtype = writer.data_type(value_of(call).dtype)
    writer.add(
        "MPSArange", output_id=writer.write(call), start=start, end=end, step=stride, dtype=dtype
    )


def _numbers(*names: str) -> Any:
    """Condition of what float32 must hold, where a result is not of floats."""
    return when(
        lambda call: (
            value_of(call).dtype in FLOATS or all(is_exact(argument(call, each)) for each in names)
        ),
        "numbers that float32 holds are expected",
    )


GROWS = when(
    lambda call: min(call.args[1], default=0) >= 0, "padding that adds elements is expected"
)


def movement_rows() -> dict[str, MpsRow]:
    converted = row("Cast Ne", convert, ALL)
    return {
        "aten.permute_copy.default": row("Permute", permute, ALL),
        "aten.view_copy.default": row("View", view, ALL),
        "aten.expand_copy.default": row("View Expand", expand, ALL),
        "aten.unsqueeze_copy.default": row("Unsqueeze", unsqueeze, ALL),
        "aten.squeeze_copy.dims": row("Squeeze", squeeze, ALL),
        "aten.select_copy.int": row("Select", select, ALL),
        "aten.slice_copy.Tensor": row("Slice", cut, ALL),
        "aten.split_with_sizes_copy.default": row("SplitWithSizes", split, ALL),
        "aten.cat.default": row("Cat", cat, ALL),
        "aten.pixel_shuffle.default": row("PixelShuffle", shuffle, ALL),
        "aten.constant_pad_nd.default": row("ConstantPadND", pad, ALL, GROWS, _numbers("value")),
        "aten.clone.default": row("", alias, ALL),
        "aten._to_copy.default": converted,
        "dim_order_ops._clone_dim_order.default": row("", alias, ALL),
        "dim_order_ops._to_dim_order_copy.default": converted,
        "aten.full.default": row("Full", full, ALL, _numbers("fill_value")),
        "aten.full_like.default": row("FullLike", full_like, ALL, _numbers("fill_value")),
        "aten.scalar_tensor.default": row("Full", scalar, ALL, _numbers("s")),
        "aten.empty.memory_format": row("Full", empty, ALL),
        "aten.arange.start_step": row("Arange", arange, ALL, _numbers("start", "end", "step")),
    }
