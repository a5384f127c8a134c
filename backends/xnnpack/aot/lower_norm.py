# SPDX-License-Identifier: BSD-3-Clause
"""Means and norms over the last dimensions, and what goes by channel.

XNNPACK's payload knows one mean, of two inner dimensions of four: rows become [rows, size, 1, 1]."""

from __future__ import annotations

from math import prod

import torch
from torch import Tensor
from torch.fx import Node

from executorch.backends.xnnpack.aot.graph_builder import (
    NHWC,
    PLAIN,
    GraphBuilder,
    shape_of,
)
from executorch.backends.xnnpack.aot.lower import KEEP_DIMS, emit_reshape
from executorch.backends.xnnpack.aot.steps import Step
from executorch.backends.xnnpack.aot.value_types import value_of
from executorch.exir.backend.lowering.layout import in_layout


class Rows:
    """Calls on values of [rows, size, 1, 1], all made for one node."""

    def __init__(
        self, builder: GraphBuilder, node: Node, source: Node, dims: int, layout: str = PLAIN
    ) -> None:
        self.builder, self.node = builder, node
        shape = shape_of(source)
        self.rows, self.size = prod(shape[:-dims]), prod(shape[-dims:])
        leading = source.meta["val"].shape[:-dims]
        is_dynamic = any(isinstance(each, torch.SymInt) for each in leading)
        value = builder.read(source, layout)
        self.value = self._made(self.size)
        emit_reshape(
            builder, node, value, self.value, [0 if is_dynamic else self.rows, self.size, 1, 1]
        )

    def mean(self, value: int) -> int:
        out = self._made(1)
        kind = "XNNGlobalAvgPooling2d"
        self.builder.emit(self.node, kind, input_id=value, output_id=out, flags=KEEP_DIMS)
        return out

    def one(self, kind: str, value: int, size: int) -> int:
        out = self._made(size)
        self.builder.emit(self.node, kind, input_id=value, output_id=out)
        return out

    def two(self, kind: str, first: int, second: int, size: int) -> int:
        out = self._made(size)
        self.builder.emit(self.node, kind, input1_id=first, input2_id=second, output_id=out)
        return out

    def constant(self, data: Tensor) -> int:
        ordered = data.detach().to(self.node.meta["val"].dtype).reshape(-1, 1, 1)
        return self.builder.constant(self.node, ordered)

    def normalized(self, epsilon: float) -> int:
        """(x - mean) / sqrt(mean of squares of that + epsilon)"""
        centred = self.two("XNNSubtract", self.value, self.mean(self.value), self.size)
        variance = self.mean(self.one("XNNSquare", centred, self.size))
        above_zero = self.two("XNNAdd", variance, self.constant(torch.tensor([epsilon])), 1)
        scale = self.one("XNNReciprocalSquareRoot", above_zero, 1)
        return self.two("XNNMultiply", centred, scale, self.size)

    def finish(self, result: Node, value: int) -> None:
        emit_reshape(self.builder, result, value, self.builder.write(result))

    def _made(self, size: int) -> int:
        return self.builder.intermediate([self.rows, size, 1, 1], self.node)


def mean_of_rows(builder: GraphBuilder, step: Step) -> None:
    rows = Rows(builder, step.result, step.head.args[0], len(step.head.args[1]))
    rows.finish(step.result, rows.mean(rows.value))


def sum_of_rows(builder: GraphBuilder, step: Step) -> None:
    """Their number of times the mean."""
    rows = Rows(builder, step.result, step.head.args[0], len(step.head.args[1]))
    count = rows.constant(torch.tensor([float(rows.size)]))
    rows.finish(step.result, rows.two("XNNMultiply", rows.mean(rows.value), count, 1))


def layer_norm(builder: GraphBuilder, step: Step) -> None:
    """The norm of rows, times gamma, plus beta."""
    source, normalized, gamma, beta, epsilon = step.head.args
    rows = Rows(builder, step.result, source, len(normalized))
    found = rows.normalized(epsilon)
    for kind, data in (("XNNMultiply", gamma), ("XNNAdd", beta)):
        if data is not None:
            found = rows.two(kind, found, rows.constant(builder.constants[data]), rows.size)
    rows.finish(step.result, found)


def group_norm(builder: GraphBuilder, step: Step) -> None:
    """Of one group and with weights: the norm of all of an image, in whichever layout that is; then by channel."""
    head = step.head
    source, gamma, beta = head.args[:3]
    layout = builder.layout
    rows = Rows(builder, step.result, source, len(shape_of(source)) - 1, layout)
    found = builder.make_value(source, layout)
    sizes = in_layout(shape_of(source), layout)
    emit_reshape(builder, step.result, rows.normalized(head.args[7]), found, sizes)
    scaled = builder.make_value(source, layout)
    for kind, data, value, out in (
        ("XNNMultiply", gamma, found, scaled),
        ("XNNAdd", beta, scaled, builder.write(step.result, layout)),
    ):
        weights = _by_channel(builder, source, builder.constants[data].detach(), layout)
        builder.emit(head, kind, input1_id=value, input2_id=weights, output_id=out)


def batch_norm(builder: GraphBuilder, step: Step) -> None:
    """One that no convolution takes: a multiplication and an addition by channel."""
    head = step.head
    source = head.args[0]
    layout = builder.layout
    scale, shift = scale_and_shift(builder, head)
    value = builder.read(source, layout)
    scaled = builder.make_value(source, layout)
    builder.emit(
        head,
        "XNNMultiply",
        input1_id=value,
        input2_id=_by_channel(builder, head, scale, layout),
        output_id=scaled,
    )
    builder.emit(
        head,
        "XNNAdd",
        step.limits,
        input1_id=scaled,
        input2_id=_by_channel(builder, head, shift, layout),
        output_id=builder.write(step.result, layout),
    )


def scale_and_shift(builder: GraphBuilder, norm: Node) -> tuple[Tensor, Tensor]:
    """What a batch norm multiplies by, and then adds; doubles."""
    _, gamma, beta, mean, variance, _, epsilon = norm.args
    scale = torch.rsqrt(builder.constants[variance].detach().double() + epsilon)
    if gamma is not None:
        scale = scale * builder.constants[gamma].detach()
    shift = -builder.constants[mean].detach().double() * scale
    if beta is not None:
        shift = shift + builder.constants[beta].detach()
    return scale, shift


def parametric_relu(builder: GraphBuilder, step: Step) -> None:
    source, weight = step.head.args
    layout = builder.layout
    slopes = _by_channel(builder, source, builder.constants[weight].detach(), layout)
    value = builder.read(source, layout)
    out = builder.write(step.result, layout)
    builder.emit(step.head, "XNNPReLU", input1_id=value, input2_id=slopes, output_id=out)


def _by_channel(builder: GraphBuilder, node: Node, data: Tensor, layout: str) -> int:
    """A constant that broadcasts along dimension 1 of `node`'s result in the layout; one number along all."""
    value = value_of(node)
    inner = 0 if layout == NHWC or data.numel() == 1 else max(value.dim() - 2, 0)
    assert layout in (PLAIN, NHWC)
    return builder.constant(node, data.to(value.dtype).reshape([-1] + [1] * inner))
