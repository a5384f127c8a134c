# SPDX-License-Identifier: BSD-3-Clause
"""Rows of what reads or writes elements by indices."""

from __future__ import annotations

from typing import Any

import torch
from torch.fx import Node

from executorch.backends.apple.mps.aot.movement import slice_of
from executorch.backends.apple.mps.aot.row import (
    ALL,
    FLOATS,
    MpsRow,
    argument,
    rank,
    row,
    sizes,
    value_of,
)
from executorch.backends.apple.mps.aot.schema import ABSENT
from executorch.exir.backend.lowering.op_table import when


def index_select(writer: Any, step: Any) -> None:
    call = step.head
    source, dim, index = call.args
    writer.add(
        "MPSIndexSelect",
        input1_id=writer.read(source), dim=dim, index_id=writer.read(index),
        output_id=writer.write(call),
    )  # fmt: skip


def embedding(writer: Any, step: Any) -> None:
    """Without a padding_idx, which is of training alone: the runtime gives zeros for that row, whatever it holds."""
    call = step.head
    weight, indices = (writer.read(each) for each in call.args[:2])
    arguments = {name: argument(call, name) for name in ("scale_grad_by_freq", "sparse")}
    writer.add(
        "MPSEmbedding",
        input1_id=weight, input2_id=indices, output_id=writer.write(call), padding_idx=-1, **arguments,
    )  # fmt: skip


def index(writer: Any, step: Any) -> None:
    call = step.head
    source, indices = writer.read(call.args[0]), _indices(writer, call)
    writer.add("MPSIndexTensor", input1_id=source, indices_id=indices, output_id=writer.write(call))


def index_put(writer: Any, step: Any) -> None:
    call = step.head
    source, indices = writer.read(call.args[0]), _indices(writer, call)
    values = writer.operand(call.args[2], value_of(call).dtype)
    shape = list(_read_by(call).shape)
    if sizes(call.args[2]) != shape:
        spread = writer.like(values, shape)
        writer.expand(values, spread)
        values = spread
    writer.add(
        "MPSIndexPut",
        input1_id=source, indices_id=indices, values_shape=[], values_id=values,
        output_id=writer.write(call),
    )  # fmt: skip


def _indices(writer: Any, call: Node) -> list[int]:
    return [ABSENT if each is None else writer.read(each) for each in call.args[1]]


def _given(call: Node) -> list[Node]:
    return [each for each in call.args[1] if each is not None]


def _read_by(call: Node) -> torch.Tensor:
    """What the indices of a call read."""
    indices = [each if each is None else each.meta["val"] for each in call.args[1]]
    return torch.ops.aten.index.Tensor(value_of(call.args[0]), indices)


def slice_scatter(writer: Any, step: Any) -> None:
    call = step.head
    source, values = (writer.operand(each, value_of(call).dtype) for each in call.args[:2])
    dim, start, end, stride = slice_of(call)
    shape = sizes(call.args[1])
    along = [-1 if place == dim else 1 for place in range(len(shape))]
    places = torch.arange(start, end, stride, dtype=torch.int64).reshape(along).expand(shape)
    result = writer.write(call)
    writer.add(
        "MPSScatter",
        input1_id=source, output_id=result, dim=argument(call, "dim"), idx_id=writer.constant(places),
        src_id=values,
    )  # fmt: skip


OF_INTS = when(
    lambda call: all(value_of(each).dtype in (torch.int32, torch.int64) for each in _given(call)),
    "indices of dtype int32 or int64 are expected",
)
OVERWRITES = when(lambda call: not argument(call, "accumulate"), "accumulate is not expected")
# With several, the runtime refuses the payload or reads other elements.
ONE_INDEX = when(lambda call: len(_given(call)) == 1, "one tensor of indices is expected")
PUTS_LISTS = when(
    lambda call: all(rank(each) == 1 for each in _given(call)), "a list of indices is expected"
)
IS_LIST = when(lambda call: rank(call.args[2]) == 1, "a list of indices is expected")


def indexing_rows() -> dict[str, MpsRow]:
    return {
        "aten.index_select.default": row("IndexSelect", index_select, ALL, IS_LIST),
        "aten.embedding.default": row("Embedding", embedding, FLOATS),
        "aten.index.Tensor": row("IndexTensor", index, ALL, OF_INTS, ONE_INDEX),
        "aten.index_put.default": row(
            "View Expand IndexPut", index_put, ALL, OF_INTS, OVERWRITES, ONE_INDEX, PUTS_LISTS
        ),
        "aten.slice_scatter.default": row("Scatter", slice_scatter, ALL),
    }
