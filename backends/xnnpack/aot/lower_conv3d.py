# SPDX-License-Identifier: BSD-3-Clause
"""Convolutions over three dimensions, as XNNPACK has them over two. Channels last, NCDHW is [batch, depth, height,
width, channels], and its slices are images.

one tap of depth:    a convolution of the slices, [batch * depth, height, width, channels]
taps of depth alone: a convolution of [batch, depth, height * width, channels] by columns of taps
others:              the slices that the taps of depth read, side by side as channels; one convolution of these
transposed:          the same for each place of a result within a stride of depth, interleaved

What that copies is little beside the products: of each value, one for each tap of depth."""

from __future__ import annotations

import math
from dataclasses import dataclass, replace
from functools import partial

from torch import Tensor
from torch.fx import Node

from executorch.backends.xnnpack.aot.conv3d import has_short_form, of_three
from executorch.backends.xnnpack.aot.graph_builder import NHWC, GraphBuilder, shape_of
from executorch.backends.xnnpack.aot.lower import (
    KEEP_DIMS,
    concatenate_parts,
    emit_reshape,
    paddings,
)
from executorch.backends.xnnpack.aot.lower_convolution import (
    Plane,
    arranged_filter,
    both,
    emit_plane,
    filter_and_offset,
)
from executorch.backends.xnnpack.aot.lower_transposed import (
    Images,
    by_phases,
    phases_of,
)
from executorch.backends.xnnpack.aot.steps import Mode, Step
from executorch.exir.backend.lowering.layout import in_layout

_MAX_COPIED, _MAX_PARTS = 1 << 20, 8  # elements at once


@dataclass(frozen=True)
class Window:
    """The arguments of a convolution, by depth, height and width; `channels`: in and out."""

    channels: tuple[int, int]
    kernel: list[int]
    stride: list[int]
    padding: list[int]
    dilation: list[int]
    extra: list[int]
    transposed: bool

    @staticmethod
    def of(head: Node) -> Window:
        _, weight, _, *sizes, transposed, extra, _ = head.args
        outputs, inputs, *kernel = weight.meta["val"].shape
        channels = (outputs, inputs) if transposed else (inputs, outputs)
        stride, padding, dilation, extra = map(of_three, (*sizes, extra))
        return Window(channels, kernel, stride, padding, dilation, extra, transposed)

    def is_along_depth(self) -> bool:
        beside = (*self.kernel[1:], *self.stride[1:])
        return all(each == 1 for each in beside) and not any(self.padding[1:])

    def plane(self, taps: int) -> Plane:
        """Of height and width, with the slices for so many taps of depth as channels."""
        return Plane(
            (self.channels[0] * taps, self.channels[1]),
            self.kernel[1:],
            self.stride[1:],
            paddings(self.padding[1:]),
            self.dilation[1:],
            self.extra[1:] if self.transposed else [0, 0],
            transposed=self.transposed,
        )

    def plane_of_rows(self, taps: int) -> Plane:
        """Of height and width, with the slices for so many taps of depth row by row."""
        return Plane(
            self.channels,
            [self.kernel[1] * taps, self.kernel[2]],
            [self.stride[1] * taps, self.stride[2]],
            paddings([self.padding[1] * taps, self.padding[2]]),
            self.dilation[1:],
            [0, 0],
        )


@dataclass(frozen=True)
class Taps:
    """Taps of depth: which of the filter's, and the slice that each reads for the first of `count` results; that for
    the next one is `stride` further."""

    places: list[int]
    starts: list[int]
    stride: int
    count: int


def conv3d(builder: GraphBuilder, step: Step) -> None:
    window = Window.of(step.head)
    if window.transposed:
        _transposed(builder, step, window)
    elif window.is_along_depth() and window.kernel[0] > 1:
        _along_depth(builder, step, window)
    else:
        _by_slices(builder, step, window)


def _along_depth(builder: GraphBuilder, step: Step, window: Window) -> None:
    batch, inputs, depth, height, width = shape_of(step.head.args[0])
    _, outputs, made, *_ = shape_of(step.result)
    value = _reshaped(builder, step, [batch, depth, height * width, inputs])
    sides = paddings([window.padding[0], 0])
    along = ([each[0], 1] for each in (window.kernel, window.stride))
    plane = Plane(window.channels, *along, sides, [window.dilation[0], 1], [0, 0])
    constants = arranged_filter(builder, step, plane, lambda data: data.flatten(3))
    out = builder.intermediate([batch, made, height * width, outputs], step.result)
    emit_plane(builder, step, plane, value, constants, out)
    _write(builder, step, out)


def _by_slices(builder: GraphBuilder, step: Step, window: Window) -> None:
    source = step.head.args[0]
    depth, made = shape_of(source)[2], shape_of(step.result)[2]
    starts = [place * window.dilation[0] - window.padding[0] for place in range(window.kernel[0])]
    taps = _useful(Taps(list(range(window.kernel[0])), starts, window.stride[0], made), depth)
    parts = _in_parts(taps, shape_of(source))
    slices = Slices(builder, step, parts)
    if _by_rows(window, taps, step):
        read, plane, as_plane = (
            slices.read_as_rows,
            window.plane_of_rows(len(taps.places)),
            _as_rows,
        )
    else:
        read, plane, as_plane = slices.read, window.plane(len(taps.places)), _as_channels
    constants = arranged_filter(builder, step, plane, lambda data: as_plane(data, taps))
    batch, outputs, _, *image = shape_of(step.result)
    made = []
    for part in parts:
        shape = [batch * part.count, *image, outputs]
        out = builder.intermediate(shape, step.result)
        emit_plane(builder, step, plane, read(part), constants, out)
        made.append((out, shape))
    if len(made) > 1:
        whole = partial(builder.intermediate, [taps.count, *image, outputs], step.result)
        out = concatenate_parts(builder, step.result, made, 0, whole)
    _write(builder, step, out)


def _in_parts(taps: Taps, shape: list[int]) -> list[Taps]:
    """The results, part after part: what is copied for one stays in the cache, and takes little memory."""
    batch, channels, _, height, width = shape
    copied = channels * height * width * taps.count * len(taps.places)
    count = min(-(-copied // _MAX_COPIED), _MAX_PARTS, taps.count)
    if batch > 1 or len(taps.places) == 1 or count == 1:
        return [taps]
    ends = [taps.count * (number + 1) // count for number in range(count)]
    return [
        replace(taps, starts=[s + begin * taps.stride for s in taps.starts], count=end - begin)
        for begin, end in zip([0, *ends], ends, strict=False)
    ]


def _by_rows(window: Window, taps: Taps, step: Step) -> bool:
    """Rows are copied as one, channels pixel by pixel. But 3 x 3 taps have a faster way in float (Winograd)."""
    weights = len(taps.places) * math.prod(window.channels)
    is_winograd = step.mode is Mode.FLOAT and has_short_form(
        window.kernel[1:], window.stride[1:], weights
    )
    return len(taps.places) > 1 and window.dilation[1] == 1 and not is_winograd


def _transposed(builder: GraphBuilder, step: Step, window: Window) -> None:
    depth = shape_of(step.head.args[0])[2]
    batch, outputs, made, height, width = shape_of(step.result)
    stride = window.stride[0]
    every = [
        _useful(_taps_of_place(place, window, made // stride), depth) for place in range(stride)
    ]
    slices = Slices(builder, step, every)
    rows, parts = height * stride, []
    shape = [batch * (made // stride), height, width, outputs]
    for taps in every:
        out = builder.intermediate(shape, step.result)
        _transposed_plane(builder, step, window, taps, slices.read(taps), out)
        parts.append((out, shape))
    if stride > 1:
        interleaved = [shape[0], rows, width, outputs]
        out = concatenate_parts(
            builder, step.result, parts, 1, lambda: builder.intermediate(interleaved, step.result)
        )
    _write(builder, step, out)


def _transposed_plane(
    builder: GraphBuilder, step: Step, window: Window, taps: Taps, value: int, out: int
) -> None:
    phases = phases_of(step)
    if phases is not None:
        data, bias = filter_and_offset(builder, step)
        images = Images(shape_of(step.result)[0] * taps.count, value, out)
        by_phases(builder, step, phases, _as_channels(data, taps), bias, images)
        return
    plane = window.plane(len(taps.places))
    constants = arranged_filter(builder, step, plane, lambda data: _as_channels(data, taps))
    emit_plane(builder, step, plane, value, constants, out)


def _taps_of_place(place: int, window: Window, count: int) -> Taps:
    """Of the results at `place` within a stride: taps that are a stride apart read slices one after the other."""
    stride = window.stride[0]
    shift, first = divmod(place + window.padding[0], stride)
    places = list(range(first, window.kernel[0], stride))
    return Taps(places, [shift - number for number in range(len(places))], 1, count)


def _useful(taps: Taps, depth: int) -> Taps:
    """Without those that only read zeros, but for one."""
    pairs = list(zip(taps.places, taps.starts, strict=True))
    reads = [range(start, start + taps.stride * taps.count, taps.stride) for start in taps.starts]
    kept = [
        pair for pair, each in zip(pairs, reads, strict=True) if any(0 <= i < depth for i in each)
    ]
    places, starts = map(list, zip(*(kept or pairs[:1]), strict=True))
    return Taps(places, starts, taps.stride, taps.count)


class Slices:
    """Of the NCDHW value that a step reads, with the zeros around that taps of depth reach."""

    def __init__(self, builder: GraphBuilder, step: Step, every: list[Taps]) -> None:
        self._builder, self._step, self._source = builder, step, step.head.args[0]
        self._shape = in_layout(shape_of(self._source), NHWC)
        depth, (self._stride,) = self._shape[1], {taps.stride for taps in every}
        starts = [start for taps in every for start in taps.starts]
        self._before = max(0, -min(starts))
        ends = [
            start + self._before + taps.stride * (taps.count - 1)
            for taps in every
            for start in taps.starts
        ]
        whole = max(self._before + depth, max(ends) + 1)
        self._depth = -(-whole // self._stride) * self._stride
        self._value = self._padded(self._depth - depth - self._before)

    def read(self, taps: Taps) -> int:
        """[batch * count, height, width, channels of all taps]"""
        *image, channels = self._shape[2:]
        return self._joined(taps, -1, [*image, channels * len(taps.places)])

    def read_as_rows(self, taps: Taps) -> int:
        """[batch * count, height and taps, width, channels]"""
        height, *row = self._shape[2:]
        return self._joined(taps, -2, [height * len(taps.places), *row])

    def _joined(self, taps: Taps, axis: int, image: list[int]) -> int:
        parts = [self._of_tap(start + self._before, taps.count) for start in taps.starts]
        out, shape = parts[0]
        if len(parts) > 1:
            whole = list(shape)
            whole[axis] *= len(parts)
            made = partial(self._made, whole)
            out = concatenate_parts(self._builder, self._source, parts, axis % len(shape), made)
        images = [self._shape[0] * taps.count, *image]
        made = self._made(images)
        emit_reshape(self._builder, self._step.head, out, made, images)
        return made

    def _padded(self, after: int) -> int:
        value = self._builder.read(self._source, NHWC)
        batch, _, *rest = self._shape
        if self._before or after:
            made = self._made([batch, self._depth, *rest])
            sides = ([0, each, 0, 0, 0] for each in (self._before, after))
            fields = dict(zip(("pre_paddings", "post_paddings"), sides, strict=True))
            fields |= {"padding_value": 0.0, "input_id": value, "output_id": made}
            self._builder.emit(self._step.head, "XNNStaticConstantPad", **fields)
            value = made
        if self._stride > 1:
            apart = [batch, self._depth // self._stride, self._stride, *rest]
            made = self._made(apart)
            emit_reshape(self._builder, self._step.head, value, made, apart)
            value = made
        return value

    def _of_tap(self, start: int, count: int) -> tuple[int, list[int]]:
        """`count` slices, a stride apart."""
        batch, _, *rest = self._shape
        if count == self._depth:
            return self._value, [batch, count, *rest]
        row, place = divmod(start, self._stride)
        offsets, sizes = [0, row], [batch, count]
        if self._stride > 1:
            offsets, sizes = [*offsets, place], [*sizes, 1]
        offsets, sizes = [*offsets, 0, 0, 0], [*sizes, *rest]
        made = self._made(sizes)
        fields = {"num_dims": len(sizes), "offsets": offsets, "sizes": sizes}
        ids = {"input_id": self._value, "output_id": made}
        self._builder.emit(self._step.head, "XNNStaticSlice", **fields, **ids)
        return made, sizes

    def _made(self, shape: list[int]) -> int:
        return self._builder.intermediate(shape, self._source)


def _as_channels(data: Tensor, taps: Taps) -> Tensor:
    """[out, in, depth, height, width] as [out, taps and in, height, width]."""
    return data[:, :, taps.places].transpose(1, 2).flatten(1, 2)


def _as_rows(data: Tensor, taps: Taps) -> Tensor:
    """[out, in, depth, height, width] as [out, in, height and taps, width]."""
    return data[:, :, taps.places].transpose(2, 3).flatten(2, 3)


def _reshaped(builder: GraphBuilder, step: Step, sizes: list[int]) -> int:
    source = step.head.args[0]
    made = builder.intermediate(sizes, source)
    emit_reshape(builder, step.head, builder.read(source, NHWC), made, sizes)
    return made


def _write(builder: GraphBuilder, step: Step, value: int) -> None:
    out = builder.write(step.result, NHWC)
    emit_reshape(builder, step.head, value, out, in_layout(shape_of(step.result), NHWC))


def max_pool3d(builder: GraphBuilder, step: Step) -> None:
    """Maxima of the slices, then of each pixel along depth."""
    head = step.head
    given = [*head.args[1:5], None, None, None]
    kernel = of_three(given[0])
    stride = of_three(given[1] or kernel)
    padding, dilation = (of_three(each or [default]) for each, default in zip(given[2:4], (0, 1)))
    dilation = [gap if size > 1 else 1 for gap, size in zip(dilation, kernel, strict=True)]
    batch, channels, depth, height, width = shape_of(head.args[0])
    made, *image = shape_of(step.result)[2:]
    slices = [batch * depth, height, width, channels]
    value = _reshaped(builder, step, slices)
    every = list(zip(kernel, stride, padding, dilation, strict=True))
    shapes = ([batch * depth, *image, channels], [batch, made, image[0] * image[1], channels])
    value = _pooled(builder, step, value, every[1:], shapes[0])
    if every[0] != _NO_POOL:
        tall = [batch, depth, image[0] * image[1], channels]
        apart = builder.intermediate(tall, head.args[0])
        emit_reshape(builder, head, value, apart, tall)
        value = _pooled(builder, step, apart, [every[0], _NO_POOL], shapes[1])
    _write(builder, step, value)


_NO_POOL = (1, 1, 0, 1)


def _pooled(
    builder: GraphBuilder, step: Step, value: int, every: list[tuple[int, ...]], shape: list[int]
) -> int:
    """`every`: size, stride, padding and dilation of rows and of columns."""
    if all(each == _NO_POOL for each in every):
        return value
    kernel, stride, padding, dilation = zip(*every, strict=True)
    made = builder.intermediate(shape, step.head.args[0])
    fields = {
        **paddings(list(padding)),
        **both("pooling", kernel),
        **both("stride", stride),
        **both("dilation", dilation),
    }
    ids = {"input_id": value, "output_id": made}
    builder.emit(step.head, "XNNMaxPooling2d", **fields, **ids, flags=KEEP_DIMS)
    return made
