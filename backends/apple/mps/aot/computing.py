# SPDX-License-Identifier: BSD-3-Clause
"""Rows of matmuls, pooling, norms and means."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from torch.fx import Node

from executorch.backends.apple.mps.aot.convolution import convolution_rows, pair
from executorch.backends.apple.mps.aot.row import (
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

# ---- Matmuls ----


def matmul(writer: Any, step: Any) -> None:
    call = step.head
    left, right = (writer.operand(each, value_of(call).dtype) for each in call.args)
    writer.add("MPSMatMul", input1_id=left, input2_id=right, output_id=writer.write(call))


def addmm(writer: Any, step: Any) -> None:
    call = step.head
    factors = {name: float(argument(call, name)) for name in ("beta", "alpha")}
    ids = [writer.operand(each, value_of(call).dtype) for each in call.args]
    writer.addmm(*ids, writer.write(call), **factors)


def linear(writer: Any, step: Any) -> None:
    """As its decomposition is: rows, the weight turned, and a matmul, whose rows come second without a bias."""
    call = step.head
    dtype = value_of(call).dtype
    x, weight, bias = (argument(call, name) for name in ("input", "weight", "bias"))
    is_matrix, columns = rank(x) == 2, sizes(x)[-1]
    rows = value_of(x).numel() // columns

    def read_rows() -> int:
        source = writer.operand(x, dtype)
        return source if is_matrix else writer.viewed(source, [rows, columns])

    def turn() -> int:
        source = writer.operand(weight, dtype)
        turned = writer.like(source, sizes(weight)[::-1])
        writer.add("MPSPermute", input1_id=source, output_id=turned, num_dims=2, perm=[1, 0])
        return turned

    def result() -> int:
        return writer.write(call) if is_matrix else writer.value(dtype, [rows, sizes(weight)[0]])

    if bias is None:
        turned, source = turn(), read_rows()
        found = result()
        writer.add("MPSMatMul", input1_id=source, input2_id=turned, output_id=found)
    else:
        source, turned, added = read_rows(), turn(), writer.operand(bias, dtype)
        found = result()
        writer.addmm(added, source, turned, found, beta=1.0, alpha=1.0)
    if not is_matrix:
        writer.view(found, writer.write(call))


# ---- Pooling ----


def pooling(
    writer: Any, call: Node, kind: str, source: int, padding: Sequence[int], **more: Any
) -> None:
    """A ceil_mode that adds a row or column of results is padding at the end; any other changes nothing."""
    kernel, stride, _, dilation = windows(call)
    is_ceil = argument(call, "ceil_mode") and not any(behind(call))
    (top, bottom), (left, right) = (
        (before, before + more_behind)
        for before, more_behind in zip(padding, behind(call), strict=True)
    )
    writer.add(
        kind,
        input1_id=source,
        kernel_height=kernel[0], kernel_width=kernel[1], stride_height=stride[0], stride_width=stride[1],
        padding_left=left, padding_right=right, padding_top=top, padding_bottom=bottom,
        dilation_height=dilation[0], dilation_width=dilation[1], ceil_mode=is_ceil,
        **more,
    )  # fmt: skip


def windows(call: Node) -> list[tuple[int, int]]:
    """Kernel, stride, padding and dilation. A kernel of which one window is all is no larger than the image: networks
    ask for a global mean so."""
    asked = argument(call, "kernel_size")
    given = [asked, argument(call, "stride") or asked, argument(call, "padding")]
    given.append([1, 1] if "avg" in str(call.target) else argument(call, "dilation"))
    kernel, stride, padding, dilation = (pair(each, 2, 0) for each in given)
    rows, columns = (
        min(kernel[at], size + 2 * padding[at]) if (count, dilation[at]) == (1, 1) else kernel[at]
        for at, (size, count) in enumerate(
            zip(sizes(call.args[0])[2:], sizes(call)[2:], strict=True)
        )
    )
    return [(rows, columns), stride, padding, dilation]


def behind(call: Node) -> list[int]:
    """How far the last windows reach behind the padding."""
    kernel, stride, padding, dilation = windows(call)
    found = []
    for place in range(2):
        size, count = sizes(call.args[0])[place + 2], sizes(call)[place + 2]
        reach = (count - 1) * stride[place] + dilation[place] * (kernel[place] - 1) + 1
        found.append(max(0, reach - size - 2 * padding[place]))
    return found


def max_pool(writer: Any, step: Any) -> None:
    call = step.head
    source = writer.operand(call.args[0], value_of(call).dtype)
    results = {f"output{place + 1}_id": writer.item(call, place) for place in range(2)}
    pooling(
        writer, call, "MPSMaxPool2DWithIndices", source, windows(call)[2],
        count_include_pad=True, divisor_override=0, **results,
    )  # fmt: skip


def avg_pool(writer: Any, step: Any) -> None:
    """What a ceil_mode adds at the end is not counted: where padding is, that comes first."""
    call = step.head
    source, padding = writer.operand(call.args[0], value_of(call).dtype), windows(call)[2]
    is_counted, divisor = (
        argument(call, name) for name in ("count_include_pad", "divisor_override")
    )
    if is_counted and not divisor and any(behind(call)):
        if any(padding):
            source = _padded(writer, source, padding)
        is_counted, padding = False, (0, 0)
    pooling(
        writer, call, "MPSAvgPool2D", source, padding,
        count_include_pad=is_counted, divisor_override=divisor or 0,
        output1_id=writer.write(call), output2_id=ABSENT,
    )  # fmt: skip


def _padded(writer: Any, source: int, padding: Sequence[int]) -> int:
    """With zeros around an image."""
    sides = [padding[1], padding[1], padding[0], padding[0]]
    images, channels, rows, columns = writer.values[source].dims
    padded = writer.like(
        source, [images, channels, rows + 2 * padding[0], columns + 2 * padding[1]]
    )
    writer.add("MPSConstantPadND", input1_id=source, output_id=padded, pad=sides, value=0.0)
    return padded


# ---- Norms and means ----


def _factors(
    writer: Any, call: Node, weight: Node | None, bias: Node | None, shape: Sequence[int]
) -> list[int]:
    """Weight and bias of a norm; ones and zeros for absent ones, which the runtime would read out of bounds."""
    dtype = value_of(call).dtype
    return [
        writer.filled(number, dtype, shape) if given is None else writer.operand(given, dtype)
        for given, number in ((weight, 1.0), (bias, 0.0))
    ]


def batch_norm(writer: Any, step: Any) -> None:
    call = step.head
    dtype = value_of(call).dtype
    x, weight, bias, mean, variance, momentum, epsilon = call.args
    source = writer.operand(x, dtype)
    weight_id, bias_id = _factors(writer, call, weight, bias, sizes(mean))
    mean_id, variance_id = (writer.operand(each, dtype) for each in (mean, variance))
    first, second, third = (writer.item(call, place) for place in range(3))
    writer.add(
        "MPSBatchNorm",
        input_id=source, mean_id=mean_id, var_id=variance_id, weight_id=weight_id, bias_id=bias_id,
        momentum=momentum, epsilon=epsilon, output1_id=first, output2_id=second, output3_id=third,
    )  # fmt: skip


def layer_norm(writer: Any, step: Any) -> None:
    call = step.head
    dtype = value_of(call).dtype
    x, shape, weight, bias, epsilon = call.args
    source = writer.operand(x, dtype)
    weight_id, bias_id = _factors(writer, call, weight, bias, shape)
    first, second, third = (writer.item(call, place) for place in range(3))
    writer.add(
        "MPSLayerNorm",
        input1_id=source, normalized_shape=list(shape), weight_id=weight_id, bias_id=bias_id, eps=epsilon,
        output1_id=first, output2_id=second, output3_id=third,
    )  # fmt: skip


def mean(writer: Any, step: Any) -> None:
    call = step.head
    dims = list(argument(call, "dim") or range(rank(call.args[0])))
    source = writer.operand(call.args[0], value_of(call).dtype)
    writer.add(
        "MPSMean",
        input1_id=source, output_id=writer.write(call), num_dims=len(dims), dims=dims,
        keep_dims=argument(call, "keepdim"),
    )  # fmt: skip


def _uses_the_first_result_alone(call: Node) -> bool:
    return all(user.args[1] == 0 for user in call.users)


FIRST = when(_uses_the_first_result_alone, "of its results the first alone must be used")
IMAGES = when(lambda call: rank(call.args[0]) == 4, "a batch of images is expected")
HAS_DIMENSIONS = when(lambda call: rank(call.args[0]) > 0, "a tensor with dimensions is expected")


def computing_rows() -> dict[str, MpsRow]:
    return {
        **convolution_rows(),
        "aten.mm.default": row("MatMul", matmul, FLOATS),
        "aten.bmm.default": row("MatMul", matmul, FLOATS),
        "aten.addmm.default": row("Addmm", addmm, FLOATS),
        "aten.linear.default": row("View Permute Addmm MatMul", linear, FLOATS),
        "aten.max_pool2d_with_indices.default": row(
            "MaxPool2DWithIndices", max_pool, FLOATS, IMAGES, FIRST
        ),
        "aten.avg_pool2d.default": row("ConstantPadND AvgPool2D", avg_pool, FLOATS, IMAGES),
        "aten._native_batch_norm_legit_no_training.default": row(
            "BatchNorm", batch_norm, FLOATS, FIRST
        ),
        "aten.native_layer_norm.default": row("LayerNorm", layer_norm, FLOATS, FIRST),
        "aten.mean.dim": row("Mean", mean, FLOATS, HAS_DIMENSIONS),
    }
