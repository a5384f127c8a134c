# SPDX-License-Identifier: BSD-3-Clause
"""How steps of all kinds but convolutions become nodes: one function per family, for the rows of ops.py."""

from __future__ import annotations

import math
from collections.abc import Callable, Iterable
from typing import Any

import torch
from torch.fx import Node

from executorch.backends.xnnpack.aot.batches import is_transposed
from executorch.backends.xnnpack.aot.conditions import argument
from executorch.backends.xnnpack.aot.graph_builder import (
    NHWC,
    PLAIN,
    GraphBuilder,
    axis_in_layout,
    order_of,
    shape_of,
)
from executorch.backends.xnnpack.aot.lower_weights import filter_and_bias
from executorch.backends.xnnpack.aot.quantization import dynamic_source
from executorch.backends.xnnpack.aot.steps import Mode, Step, limits_of
from executorch.backends.xnnpack.aot.value_types import value_of
from executorch.backends.xnnpack.serialization.graph import INVALID_VALUE_ID
from executorch.exir.backend.lowering.layout import in_layout
from executorch.exir.backend.lowering.quantized import quantizes_back

KEEP_DIMS = 0x40
_ALIGN = 8  # flag of a resize: corners on corners
_TRANSPOSE_B = 1
_MAX_CONCATENATED = 5


def elementwise(
    kind: str, parameter: str | None = None, default: float = 0.0
) -> Callable[[GraphBuilder, Step], None]:
    """One or two operands that broadcast; `parameter` is the argument behind them."""

    def lower(builder: GraphBuilder, step: Step) -> None:
        head = step.head
        operands = [arg for arg in head.args if isinstance(arg, Node)]
        layout, rank = builder.layout, head.meta["val"].dim()
        ids = [builder.read(operand, layout, rank) for operand in operands]
        names = ["input_id"] if len(ids) == 1 else ["input1_id", "input2_id"]
        fields: dict[str, Any] = dict(zip(names, ids, strict=True))
        if parameter is not None:
            fields[parameter] = float(head.args[1]) if len(head.args) > 1 else default
        out = builder.write(step.result, layout)
        builder.emit(head, kind, step.limits, **fields, output_id=out)

    return lower


def clamp(builder: GraphBuilder, step: Step) -> None:
    value = builder.read(step.head.args[0], builder.layout)
    out = builder.write(step.result, builder.layout)
    builder.emit(step.head, "XNNClamp", limits_of(step.head), input_id=value, output_id=out)


def fully_connected(builder: GraphBuilder, step: Step) -> None:
    source = step.head.args[0]
    if step.mode is Mode.DYNAMIC:
        value = builder.read_rows_quantized(dynamic_source(source), 1)
    else:
        value = builder.read(source)
    filter_id, bias_id = filter_and_bias(builder, step)
    fields = {
        "input1_id": value,
        "filter_id": filter_id,
        "bias_id": bias_id,
        "output_id": builder.write(step.result),
    }
    builder.emit(step.head, "XNNFullyConnected", step.limits, **fields)


def matmul(builder: GraphBuilder, step: Step) -> None:
    """addmm or mm by a constant matrix, the transpose of a linear's."""
    head = step.head
    *bias, source, weight = head.args
    if weight not in builder.constants:
        _values_matmul(builder, step)
        return
    fields = {
        "input1_id": builder.read(source),
        "filter_id": builder.constant(weight, builder.constants[weight].detach().t()),
        "bias_id": builder.read(bias[0]) if bias else INVALID_VALUE_ID,
        "output_id": builder.write(step.result),
    }
    builder.emit(head, "XNNFullyConnected", step.limits, **fields)


def _values_matmul(builder: GraphBuilder, step: Step) -> None:
    """mm of two values, as a batch of one."""
    factors = []
    for source in step.head.args:
        factors.append(builder.intermediate([1, *shape_of(source)], step.result))
        sizes = [1, *open_sizes(source.meta["val"].shape)]
        emit_reshape(builder, step.head, builder.read(source), factors[-1], sizes)
    out = builder.intermediate([1, *shape_of(step.head)], step.result)
    fields = {"input1_id": factors[0], "input2_id": factors[1], "output_id": out}
    builder.emit(step.head, "XNNBatchMatrixMultiply", **fields)
    emit_reshape(builder, step.head, out, builder.write(step.head))


def batch_matrix_multiply(builder: GraphBuilder, step: Step) -> None:
    first, second = (builder.read(arg) for arg in step.head.args)
    fields = {
        "input1_id": first,
        "input2_id": second,
        "output_id": builder.write(step.result),
        "flags": _TRANSPOSE_B if is_transposed(step.head) else 0,
    }
    builder.emit(step.head, "XNNBatchMatrixMultiply", **fields)


def convert(builder: GraphBuilder, step: Step) -> None:
    """Between floats and 8-bit values, or floats of two types."""
    head = step.head
    source = head.args[0]
    if quantizes_back(head):
        builder.rename(head, builder.layout, source.args[0], builder.layout)
        return
    value = builder.read(source, builder.layout)
    out = builder.write(head, builder.layout)
    builder.emit(head, "XNNConvert", input_id=value, output_id=out)


def softmax(builder: GraphBuilder, step: Step) -> None:
    """Along the last dimension: of channels in the layout that has them there, of others between two transposes."""
    source = step.head.args[0]
    rank = source.meta["val"].dim()
    dim = step.head.args[1] % rank
    value = builder.read(source, builder.layout)
    if builder.layout == NHWC or dim == rank - 1:
        out = builder.write(step.result, builder.layout)
        builder.emit(step.head, "XNNSoftmax", input_id=value, output_id=out)
        return
    order = [*range(dim), rank - 1, *range(dim + 1, rank - 1), dim]
    shape = [shape_of(source)[each] for each in order]
    moved, found = (builder.intermediate(shape, source) for _ in range(2))
    swap = {"num_dims": rank, "perm": order}  # undoes itself
    builder.emit(step.head, "XNNStaticTranspose", **swap, input_id=value, output_id=moved)
    builder.emit(step.head, "XNNSoftmax", input_id=moved, output_id=found)
    out = builder.write(step.result)
    builder.emit(step.head, "XNNStaticTranspose", **swap, input_id=found, output_id=out)


def global_average(builder: GraphBuilder, step: Step) -> None:
    head = step.head
    source = head.args[0]
    value = builder.read(source, NHWC)
    if head.meta["val"].dim() == 4:
        out = builder.write(step.result, NHWC)
        builder.emit(head, "XNNGlobalAvgPooling2d", input_id=value, output_id=out, flags=KEEP_DIMS)
        return
    batch, channels, *sizes = shape_of(source)
    if len(sizes) == 3:
        image = [batch, sizes[0] * sizes[1], sizes[2], channels]
        ncdhw, value = value, builder.intermediate(image, source)
        emit_reshape(builder, head, ncdhw, value, image)
    pooled = builder.intermediate([batch, 1, 1, channels], step.result)
    builder.emit(head, "XNNGlobalAvgPooling2d", input_id=value, output_id=pooled, flags=KEEP_DIMS)
    if head.meta["val"].dim() == 5:
        emit_reshape(
            builder, head, pooled, builder.write(step.result, NHWC), [batch, 1, 1, 1, channels]
        )
        return
    emit_reshape(builder, head, pooled, builder.write(step.result))


def pool(kind: str) -> Callable[[GraphBuilder, Step], None]:
    is_max = kind == "XNNMaxPooling2d"

    def lower(builder: GraphBuilder, step: Step) -> None:
        head = step.head
        kernel, stride, padding, dilation = _window(head, is_max)
        value = builder.read(head.args[0], NHWC)
        sides = paddings(padding)
        if not is_max and argument(head, 5, "count_include_pad", True) and any(padding):
            value = _with_zeros(builder, head, value, padding)
            sides = paddings([0, 0])
        if argument(head, 5 if is_max else 4, "ceil_mode", False):
            reach = [(size - 1) * gap + 1 for size, gap in zip(kernel, dilation, strict=True)]
            bottom, right = _beyond(head, reach, stride, padding)
            sides["padding_bottom"] += bottom
            sides["padding_right"] += right
        fields = {
            **sides,
            "pooling_height": kernel[0],
            "pooling_width": kernel[1],
            "stride_height": stride[0],
            "stride_width": stride[1],
            "dilation_height": dilation[0],
            "dilation_width": dilation[1],
        }
        out = builder.write(step.result, NHWC)
        builder.emit(head, kind, **fields, input_id=value, output_id=out, flags=KEEP_DIMS)

    return lower


def _with_zeros(builder: GraphBuilder, node: Node, image: int, padding: list[int]) -> int:
    """An image of channels last with zeros around it that count as its own."""
    batch, channels, height, width = shape_of(node.args[0])
    around = [0, *padding, 0]
    sizes = [batch, height + 2 * padding[0], width + 2 * padding[1], channels]
    out = builder.intermediate(sizes, node.args[0])
    fields = {"pre_paddings": around, "post_paddings": around, "padding_value": 0.0}
    builder.emit(node, "XNNStaticConstantPad", **fields, input_id=image, output_id=out)
    return out


def _beyond(node: Node, reach: list[int], stride: list[int], padding: list[int]) -> list[int]:
    """Rows and columns that the last windows of a pool need behind the padded image."""
    before, after = shape_of(node.args[0])[2:], value_of(node).shape[2:]
    ends = [(n - 1) * step + size for n, step, size in zip(after, stride, reach, strict=True)]
    padded = [size + 2 * pad for size, pad in zip(before, padding, strict=True)]
    return [max(0, end - size) for end, size in zip(ends, padded, strict=True)]


def _window(node: Node, dilated: bool) -> list[list[int]]:
    """Kernel, stride, padding and dilation, each of two sizes. One element has no dilation: XNNPACK reads padding by
    another rule where there is one."""
    given = [*node.args[1:5], None, None, None]
    kernel = given[0]
    dilation = given[3] if dilated else None
    chosen = [kernel, given[1] or kernel, given[2] or [0], dilation or [1]]
    kernel, *others, dilation = (list(each) * (2 // len(each)) for each in chosen)
    return [
        kernel,
        *others,
        [gap if size > 1 else 1 for gap, size in zip(dilation, kernel, strict=True)],
    ]


def paddings(padding: list[int]) -> dict[str, int]:
    """The same on both sides."""
    height, width = padding
    return {
        "padding_top": height,
        "padding_right": width,
        "padding_bottom": height,
        "padding_left": width,
    }


def concatenate(builder: GraphBuilder, step: Step) -> None:
    head = step.head
    axis = (head.args[1] if len(head.args) > 1 else 0) % head.meta["val"].dim()
    concatenate_values(builder, step, list(head.args[0]), axis)


def concatenate_values(builder: GraphBuilder, step: Step, operands: list[Node], axis: int) -> None:
    layout, rank = builder.layout, step.head.meta["val"].dim()
    values = [
        (builder.read(each, layout, rank), in_layout(shape_of(each), layout)) for each in operands
    ]
    place = axis_in_layout(axis, rank, layout)
    concatenate_parts(
        builder, step.result, values, place, lambda: builder.write(step.result, layout)
    )


def concatenate_parts(
    builder: GraphBuilder,
    like: Node,
    values: list[tuple[int, list[int]]],
    axis: int,
    make_output: Callable[[], int],
) -> int:
    """Of values with their shapes, five at a time; all are of the type of `like` as it is read."""
    rest = values
    while True:
        some, rest = rest[:_MAX_CONCATENATED], rest[_MAX_CONCATENATED:]
        shape = list(some[0][1])
        shape[axis] = sum(size[axis] for _, size in some)
        out = builder.intermediate(shape, like) if rest else make_output()
        emit_concatenate(builder, like, [value for value, _ in some], axis, out)
        if not rest:
            return out
        rest.insert(0, (out, shape))


def emit_concatenate(
    builder: GraphBuilder, node: Node, values: list[int], axis: int, out: int
) -> None:
    """Of two to five values; `axis` is that of their layout."""
    names = {f"input{i + 1}_id": value for i, value in enumerate(values)}
    missing = {f"input{i + 1}_id": INVALID_VALUE_ID for i in range(len(values), _MAX_CONCATENATED)}
    kind = f"XNNConcatenate{len(values)}"
    builder.emit(node, kind, axis=axis, **names, **missing, output_id=out)


def transpose(builder: GraphBuilder, step: Step) -> None:
    """Between plain and channels last the memory stays, and only its dimensions are renamed."""
    source = step.head.args[0]
    rank = step.head.meta["val"].dim()
    perm = [dim % rank for dim in step.head.args[1]]
    (wanted,), given = builder.candidate.wants, builder.candidate.gives
    if wanted != given:
        builder.rename(step.result, given, source, wanted)
        return
    value = builder.read(source)
    out = builder.write(step.result)
    builder.emit(
        step.head, "XNNStaticTranspose", num_dims=rank, perm=perm, input_id=value, output_id=out
    )


def reshape(builder: GraphBuilder, step: Step) -> None:
    """Positions of channels last stay so: rows and columns become places in a row, or come of them."""
    head = step.head
    source = head.args[0]
    if builder.layout == NHWC:
        sizes = in_layout(open_sizes(head.meta["val"].shape), NHWC)
        out = builder.write(step.result, NHWC)
        emit_reshape(builder, head, builder.read(source, NHWC), out, sizes)
        return
    is_same = is_same_in_both_layouts(source)
    value = builder.read(source, builder.layout_of(source) if is_same else PLAIN)
    emit_reshape(builder, head, value, builder.write(step.result))


def keeps_channels(source: Node, result: Node) -> bool:
    """Whether a reshape is one of positions alone, of values that may lie channels last."""
    before, after = ([str(size) for size in each.meta["val"].shape] for each in (source, result))
    return {len(before), len(after)} <= {3, 4, 5} and before[:2] == after[:2]


def is_same_in_both_layouts(node: Node) -> bool:
    if not order_of(node.meta["val"].dim(), NHWC):
        return False
    _, channels, *sizes = shape_of(node)
    return channels == 1 or math.prod(sizes) == 1


def emit_reshape(
    builder: GraphBuilder, node: Node, value: int, out: int, sizes: list[int] | None = None
) -> None:
    """To the sizes given, else to the node's. A dynamic one is written as 0: inferred."""
    if sizes is None:
        sizes = open_sizes(node.meta["val"].shape)
    builder.emit(
        node,
        "XNNStaticReshape",
        num_dims=len(sizes),
        new_shape=sizes,
        input_id=value,
        output_id=out,
    )


def open_sizes(shape: Iterable[int | torch.SymInt]) -> list[int]:
    """0 for dynamic sizes: the rest of a reshape, all of a slice."""
    return [0 if isinstance(size, torch.SymInt) else size for size in shape]


def slice_(builder: GraphBuilder, step: Step) -> None:
    """A size of 0 is all of a dimension."""
    head = step.head
    source = head.args[0]
    rank = head.meta["val"].dim()
    dim = (head.args[1] if len(head.args) > 1 else 0) % rank
    start = head.args[2] if len(head.args) > 2 and head.args[2] is not None else 0
    size = shape_of(source)[dim]
    offsets = [0] * rank
    offsets[dim] = min(max(start + size, 0) if start < 0 else start, size)
    sizes = open_sizes(head.meta["val"].shape)
    layout = builder.layout
    value = builder.read(source, layout)
    out = builder.write(step.result, layout)
    builder.emit(
        head,
        "XNNStaticSlice",
        num_dims=rank,
        offsets=in_layout(offsets, layout),
        sizes=in_layout(sizes, layout),
        input_id=value,
        output_id=out,
    )


def select(builder: GraphBuilder, step: Step) -> None:
    """A slice of one that loses its dimension."""
    head = step.head
    source, dim, index = head.args
    shape = shape_of(source)
    rank = len(shape)
    sizes = open_sizes(source.meta["val"].shape)
    offsets = [0] * rank
    dim %= rank
    offsets[dim], sizes[dim] = index % shape[dim], 1
    shape[dim] = 1
    value = builder.read(source)
    out = builder.intermediate(shape, step.result)
    fields = {"num_dims": rank, "offsets": offsets, "sizes": sizes}
    builder.emit(head, "XNNStaticSlice", **fields, input_id=value, output_id=out)
    emit_reshape(builder, head, out, builder.write(step.result))


def clone(builder: GraphBuilder, step: Step) -> None:
    """A copy that changes nothing."""
    builder.rename(step.result, builder.layout, step.head.args[0], builder.layout)


def repeat(builder: GraphBuilder, step: Step) -> None:
    """An expand of one dimension."""
    head = step.head
    (axis,) = expanded(head)
    count = head.meta["val"].shape[axis]
    concatenate_values(builder, step, [head.args[0]] * count, axis)


def expanded(node: Node) -> list[int]:
    """The dimensions that an expand of equal rank repeats."""
    before, after = (shape_of(each) for each in (node.args[0], node))
    return [dim for dim, (old, new) in enumerate(zip(before, after, strict=True)) if old != new]


def resize_bilinear(builder: GraphBuilder, step: Step) -> None:
    head = step.head
    height, width = shape_of(head)[2:]
    value = builder.read(head.args[0], NHWC)
    out = builder.write(step.result, NHWC)
    fields = {"new_height": height, "new_width": width, "flags": _ALIGN if head.args[2] else 0}
    builder.emit(head, "XNNStaticResizeBilinear2D", **fields, input_id=value, output_id=out)


def resize_nearest(builder: GraphBuilder, step: Step) -> None:
    """To multiples of the sizes: each pixel several times, and then each row of them."""
    head = step.head
    batch, channels, height, width = shape_of(head.args[0])
    new_height, new_width = shape_of(head)[2:]
    rows = [batch, height, 1, new_width * channels]
    value = builder.read(head.args[0], NHWC)
    out = builder.write(step.result, NHWC)
    value = _repeat_last(builder, step, value, [batch, height, width, channels], new_width // width)
    wide = builder.intermediate(rows, step.result)
    emit_reshape(builder, head, value, wide, rows)
    value = _repeat_last(builder, step, wide, rows, new_height // height)
    emit_reshape(builder, head, value, out, [batch, new_height, new_width, channels])


def _repeat_last(
    builder: GraphBuilder, step: Step, value: int, shape: list[int], count: int
) -> int:
    """A value of which the last dimension is `count` times that of the given one, again and again."""
    if count == 1:
        return value
    return concatenate_parts(
        builder,
        step.result,
        [(value, shape)] * count,
        len(shape) - 1,
        lambda: builder.intermediate([*shape[:-1], shape[-1] * count], step.result),
    )


def constant_pad(builder: GraphBuilder, step: Step) -> None:
    head = step.head
    rank = head.meta["val"].dim()
    pairs = list(head.args[1])
    before, after = [0] * rank, [0] * rank
    for i in range(len(pairs) // 2):
        before[rank - 1 - i], after[rank - 1 - i] = pairs[2 * i], pairs[2 * i + 1]
    fill = head.args[2] if len(head.args) > 2 else 0.0
    layout = builder.layout
    value = builder.read(head.args[0], layout)
    out = builder.write(step.result, layout)
    builder.emit(
        head,
        "XNNStaticConstantPad",
        pre_paddings=in_layout(before, layout),
        post_paddings=in_layout(after, layout),
        padding_value=float(fill),
        input_id=value,
        output_id=out,
    )
