# SPDX-License-Identifier: BSD-3-Clause
"""Rows of convolutions, fully connected layers and matmul."""

from __future__ import annotations

from collections.abc import Sequence
from math import prod

from torch.fx import Node

from executorch.backends.qualcomm.aot.graph import Parameter, uint32, uints
from executorch.backends.qualcomm.aot.rows import OF_FLOATS, row
from executorch.backends.qualcomm.aot.writer import GraphWriter
from executorch.exir.backend.lowering.annotation import ARITHMETIC, GEMM
from executorch.exir.backend.lowering.layout import NHWC, channels_last, plain
from executorch.exir.backend.lowering.mode_steps import ModeStep
from executorch.exir.backend.lowering.op_table import Condition, Row, has_rank, is_constant, when
from executorch.exir.graph_facts import argument, static_sizes


def _linear(w: GraphWriter, step: ModeStep) -> None:
    """Of matrices: other dimensions than the last are rows."""
    x, weight = step.head.args[:2]
    bias = argument(step.head, "bias")
    rows = w.take(x)
    sizes = list(w.values[rows].dims)
    operands = [w.reshaped(rows, [prod(sizes[:-1]), sizes[-1]]), w.read(weight)]
    operands += [] if bias is None else [w.read(bias)]
    if len(sizes) == 2:
        w.give("FullyConnected", *operands)
        return
    result = w.write(step.result)
    flat = w.like(result, [prod(sizes[:-1]), w.values[result].dims[-1]])
    w.emit("Reshape", [w.emit("FullyConnected", operands, flat)], result)


def _matmul(w: GraphWriter, step: ModeStep) -> None:
    w.give("MatMul", *(w.read(each) for each in step.head.args[:2]))


# Dimensions of a filter in QNN's order: those of the kernel, input channels, output channels.
def _filter_order(num_kernel_dims: int, is_transposed: bool) -> list[int]:
    kernel = list(range(2, 2 + num_kernel_dims))
    return [*kernel, *((0, 1) if is_transposed else (1, 0))]


def _convolution(w: GraphWriter, step: ModeStep) -> None:
    """Over one dimension as over two, of which the first is 1."""
    x, weight = step.head.args[:2]
    rank = weight.meta["val"].dim()
    bias, is_transposed = argument(step.head, "bias"), argument(step.head, "transposed")
    is_flat = rank == 3
    kernel_dims = max(rank - 2, 2)
    source = w.read(x, NHWC)
    if is_flat:
        source = w.reshaped(source, _with_row(w.values[source].dims))
    order = _filter_order(kernel_dims, is_transposed)
    operands = [source, w.filter(weight, order, 2 if is_flat else None)]
    operands += [] if bias is None else [w.read(bias)]
    kind, parameters = _kind_and_parameters(step.head, kernel_dims, is_flat)
    if not is_flat:
        w.give(kind, *operands, **parameters)
        return
    result = w.write(step.result, NHWC)
    made = w.like(result, _with_row(w.values[result].dims))
    w.emit("Reshape", [w.emit(kind, operands, made, **parameters)], result)


def _with_row(sizes: Sequence[int]) -> list[int]:
    """NLC as N1LC."""
    return [sizes[0], 1, *sizes[1:]]


def _kind_and_parameters(
    node: Node, kernel_dims: int, is_flat: bool
) -> tuple[str, dict[str, Parameter]]:
    groups, is_transposed = argument(node, "groups", 1), argument(node, "transposed")
    padding = _of_dims(node, "padding", 0, kernel_dims, is_flat)
    pads = [pad for each in padding for pad in (each, each)]
    found: dict[str, Parameter] = {
        "stride": uints(_of_dims(node, "stride", 1, kernel_dims, is_flat)),
        "pad_amount": uints(pads, kernel_dims, 2),
    }
    if is_transposed:
        found["output_padding"] = uints(_of_dims(node, "output_padding", 0, kernel_dims, is_flat))
    else:
        found["dilation"] = uints(_of_dims(node, "dilation", 1, kernel_dims, is_flat))
    if not is_transposed and kernel_dims == 2 and _is_depthwise(node):
        return "DepthWiseConv2d", found
    found["group"] = uint32(groups)
    return f"{'Transpose' if is_transposed else ''}Conv{kernel_dims}d", found


def _of_dims(node: Node, name: str, added: int, kernel_dims: int, is_flat: bool) -> list[int]:
    """One for each dimension of the kernel; `added`: of the row that is put in."""
    given = list(argument(node, name))
    count = kernel_dims - is_flat
    given = given * count if len(given) == 1 else given
    return [added, *given] if is_flat else given


def _is_depthwise(node: Node) -> bool:
    """One input channel in each group. Of two groups it is no gain: upstream's rule."""
    groups = argument(node, "groups", 1)
    return groups > 2 and groups == static_sizes(node.args[0])[1]


def _has_no_dilation(node: Node) -> bool:
    return not argument(node, "transposed") or all(each == 1 for each in argument(node, "dilation"))


def _is_batched(node: Node) -> bool:
    return node.args[0].meta["val"].dim() == node.args[1].meta["val"].dim()


def _are_matrices(node: Node) -> bool:
    return all(each.meta["val"].dim() >= 2 for each in node.all_input_nodes)


FILTER = Condition(is_constant("weight"), "a weight that is static is expected")
BIAS = Condition(is_constant("bias"), "a bias that is static is expected")
MATRICES = when(_are_matrices, "operands of at least two dimensions are expected")
_CONVOLUTION = (
    OF_FLOATS,
    has_rank(3, 4, 5),
    when(_is_batched, "a batch is expected"),
    FILTER,
    BIAS,
    when(_has_no_dilation, "transposed: a dilation of 1 is expected"),
)

ROWS: dict[str, Row] = {
    "aten.linear.default": row(
        _linear,
        OF_FLOATS,
        when(
            lambda node: node.args[0].meta["val"].dim() >= 2, "at least two dimensions are expected"
        ),
        when(lambda node: node.args[1].meta["val"].dim() == 2, "a matrix is expected as weight"),
        BIAS,
        layouts=plain,
        preserved=True,
        annotation=GEMM,
    ),
    "aten.convolution.default": row(
        _convolution, *_CONVOLUTION, layouts=channels_last, annotation=GEMM
    ),
    **{
        f"aten.{name}.default": row(
            _matmul,
            OF_FLOATS,
            MATRICES,
            layouts=plain,
            preserved=name == "matmul",
            annotation=ARITHMETIC,
        )
        for name in ("matmul", "mm", "bmm")
    },
}
