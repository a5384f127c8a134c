# SPDX-License-Identifier: BSD-3-Clause
"""Rows of convolutions. The format has none that is transposed: such a one is a plain one of its input with zeros
between the elements."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import torch
from torch.fx import Node

from executorch.backends.apple.mps.aot.row import (
    FLOATS,
    MpsRow,
    argument,
    rank,
    row,
    sizes,
    value_of,
)
from executorch.exir.backend.lowering.op_table import Condition, Constants, when


def pair(values: Sequence[int], dims: int, before: int) -> tuple[int, int]:
    """Of height and width; of a convolution over one dimension, that of height is `before`."""
    values = list(values) * dims if len(values) == 1 else values
    return (before, values[0]) if dims == 1 else (values[0], values[1])


@dataclass(frozen=True)
class Padding:
    """How much goes before and behind the rows and the columns."""

    above: int
    below: int
    left: int
    right: int

    def at_least_zero(self) -> Padding:
        return Padding(*(max(0, each) for each in vars(self).values()))


def convolution(writer: Any, step: Any) -> None:
    call = step.head
    dims = rank(call.args[1]) - 2
    if argument(call, "transposed"):
        _transposed(writer, call, dims)
        return
    dtype = value_of(call).dtype
    source, weight = (writer.operand(each, dtype) for each in call.args[:2])
    top, left = pair(argument(call, "padding"), dims, 0)
    stride = pair(argument(call, "stride"), dims, 1)
    _convolve(writer, call, source, weight, stride, Padding(top, top, left, left))


def _convolve(
    writer: Any, call: Node, source: int, weight: int, stride: tuple[int, int], sides: Padding
) -> None:
    shape, groups = writer.values[weight].dims, argument(call, "groups")
    is_depthwise = groups > 1 and shape[1] == 1 and len(shape) == 4
    bias = writer.optional(call.args[2], value_of(call).dtype)
    dilation = pair(argument(call, "dilation"), len(shape) - 2, 1)
    writer.add(
        "MPSDepthwiseConv2D" if is_depthwise else "MPSConv2D",
        input1_id=source, input2_id=weight, input3_id=bias, output_id=writer.write(call),
        stride_x=stride[1], stride_y=stride[0], dilation_x=dilation[1], dilation_y=dilation[0], groups=groups,
        padding_left=sides.left, padding_right=sides.right, padding_top=sides.above, padding_bottom=sides.below,
    )  # fmt: skip


# ---- Transposed ----


def _transposed(writer: Any, call: Node, dims: int) -> None:
    """Sizes: (n - 1) * stride + 1, and behind them the zeros of the last element, is what is convolved; each side has
    dilation * (kernel - 1) - padding around it."""
    stride, padding, dilation, more = (
        pair(argument(call, name), dims, before)
        for name, before in (("stride", 1), ("padding", 0), ("dilation", 1), ("output_padding", 0))
    )
    kernel = pair(sizes(call.args[1])[2:], dims, 1)
    top, left = (dilation[at] * (kernel[at] - 1) - padding[at] for at in range(2))
    bottom, right = (before + more[at] - (stride[at] - 1) for at, before in enumerate((top, left)))
    sides = Padding(top, bottom, left, right)
    source = _spread(writer, writer.operand(call.args[0], value_of(call).dtype), stride, dims)
    source = _cropped(writer, source, sides, dims)
    weight = writer.constant(_turned(writer.constants[call.args[1]], argument(call, "groups")))
    _convolve(writer, call, source, weight, (1, 1), sides.at_least_zero())


def _turned(weight: torch.Tensor, groups: int) -> torch.Tensor:
    """[in, out / groups, ...] as [out, in / groups, ...], each filter from its end."""
    split = weight.detach().unflatten(0, (groups, -1)).transpose(1, 2).flatten(0, 1)
    return split.flip(list(range(2, weight.dim())))


def _spread(writer: Any, source: int, stride: tuple[int, int], dims: int) -> int:
    """With stride - 1 zeros behind each element."""
    images, channels, *last = writer.values[source].dims
    rows, columns = pair(last, dims, 1)
    if stride[1] > 1:
        source = _padded(writer, source, [images * channels, rows, columns, 1], [0, stride[1] - 1])
        columns *= stride[1]
    if stride[0] > 1:
        shape = [images * channels, rows, 1, columns]
        source = _padded(writer, source, shape, [0, 0, 0, stride[0] - 1])
        rows *= stride[0]
    if max(stride) > 1:
        source = writer.viewed(source, [images, channels, *([rows] * (dims - 1)), columns])
    return source


def _padded(writer: Any, source: int, shape: list[int], pad: list[int]) -> int:
    """A view of `source` with zeros behind one of the last dimensions."""
    viewed = writer.viewed(source, shape)
    place = len(shape) - len(pad) // 2
    grown = [size + (pad[-1] if at == place else 0) for at, size in enumerate(shape)]
    made = writer.like(viewed, grown)
    writer.add("MPSConstantPadND", input1_id=viewed, output_id=made, pad=pad, value=0.0)
    return made


def _cropped(writer: Any, source: int, sides: Padding, dims: int) -> int:
    """Without what sides of less than 0 take away."""
    ends = ((sides.above, sides.below), (sides.left, sides.right))[-dims:]
    for dim, (before, behind) in enumerate(ends, 2):
        shape = list(writer.values[source].dims)
        start, end = max(0, -before), shape[dim] + min(0, behind)
        if end - start < shape[dim]:
            shape[dim] = end - start
            made = writer.like(source, shape)
            writer.add(
                "MPSSlice", input1_id=source, output_id=made, dim=dim, start=start, end=end, step=1
            )
            source = made
    return source


def _has_known_filters(call: Node, constants: Constants) -> bool:
    return not argument(call, "transposed") or call.args[1] in constants


def convolution_rows() -> dict[str, MpsRow]:
    over_images = when(
        lambda call: rank(call.args[1]) in (3, 4),
        "a convolution over one or two dimensions is expected",
    )
    known = Condition(_has_known_filters, "transposed, a constant weight is expected")
    nodes = "Conv2D DepthwiseConv2D View ConstantPadND Slice"
    return {"aten.convolution.default": row(nodes, convolution, FLOATS, over_images, known)}
