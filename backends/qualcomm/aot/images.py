# SPDX-License-Identifier: BSD-3-Clause
"""Rows of resizing, and of what moves between channels and positions; all channels last."""

from __future__ import annotations

from collections.abc import Sequence

from torch.fx import Node

from executorch.backends.qualcomm.aot.graph import flag, float32, uint32, uints
from executorch.backends.qualcomm.aot.rows import OF_FLOATS, Lower, either, row
from executorch.backends.qualcomm.aot.writer import GraphWriter
from executorch.exir.backend.lowering.annotation import ARITHMETIC, SHARED
from executorch.exir.backend.lowering.layout import (
    NHWC,
    PLAIN,
    Candidates,
    LayoutCandidate,
    channels_last,
)
from executorch.exir.backend.lowering.mode_steps import ModeStep
from executorch.exir.backend.lowering.op_table import Row, has_rank, when
from executorch.exir.graph_facts import argument, static_sizes

_CRD = 1  # mode: the block's rows and columns are the inner part of channels
_CUBIC, _A = 2, -0.75  # interpolation_mode and its coefficient
_HALF_PIXEL, _HALF_PIXEL_BUT_FOR_1, _ALIGN_CORNERS = 0, 1, 2  # transformation_mode


def _shuffle(kind: str, factor: str) -> Lower:
    def lower(w: GraphWriter, step: ModeStep) -> None:
        x, size = step.head.args[0], argument(step.head, factor)
        w.give(kind, w.take(x), block_size=uints([size, size]), mode=uint32(_CRD))

    return lower


def _channel_shuffle(w: GraphWriter, step: ModeStep) -> None:
    groups = uint32(argument(step.head, "groups"))
    w.give("ChannelShuffle", w.take(step.head.args[0]), num_groups=groups, axis=uint32(w.axis(1)))


def _bilinear(w: GraphWriter, step: ModeStep) -> None:
    corners = argument(step.head, "align_corners", False)
    w.give(
        "ResizeBilinear",
        w.take(step.head.args[0]),
        align_corners=flag(corners),
        half_pixel_centers=flag(not corners),
    )


def _nearest(w: GraphWriter, step: ModeStep) -> None:
    w.give(
        "ResizeNearestNeighbor",
        w.take(step.head.args[0]),
        align_corners=flag(False),
        half_pixel_centers=flag(False),
    )


def _bicubic(w: GraphWriter, step: ModeStep) -> None:
    """The second mode, upstream's, puts the one element of a size of 1 at the first of the input."""
    corners = argument(step.head, "align_corners", False)
    half_pixel = _HALF_PIXEL if 1 in static_sizes(step.head)[2:] else _HALF_PIXEL_BUT_FOR_1
    w.give(
        "Resize",
        w.take(step.head.args[0]),
        exclude_outside=flag(False),
        transformation_mode=uint32(_ALIGN_CORNERS if corners else half_pixel),
        interpolation_mode=uint32(_CUBIC),
        cubic_coeff=float32(_A),
    )


def _grid_sample(w: GraphWriter, step: ModeStep) -> None:
    x, grid, interpolation, padding, corners = step.head.args[:5]
    w.give(
        "GridSample",
        w.read(x, NHWC),
        w.read(grid),
        align_corners=flag(corners),
        mode=uint32(interpolation),
        padding_mode=uint32(padding),
    )


def _with_grid(step: ModeStep, operands: Sequence[Node]) -> Candidates:
    """Coordinates are last in a grid as it is."""
    wants = [PLAIN if each is step.head.args[1] else NHWC for each in operands]
    return {NHWC: LayoutCandidate(tuple(wants), NHWC)}


def _has_exact_scales(node: Node) -> bool:
    """QNN knows sizes only, PyTorch goes by a factor where one is given."""
    factors = argument(node, "scale_factors")
    if factors is None:
        return True
    before, after = static_sizes(node.args[0])[2:], static_sizes(node)[2:]
    return all(b * f == a for b, f, a in zip(before, factors, after, strict=True))


def _is_taken_grid(node: Node) -> bool:
    return node.args[2] in (0, 1)


IMAGES = has_rank(4)
SCALES = when(_has_exact_scales, "scale factors that are the ratio of the sizes are expected")
GRID = when(_is_taken_grid, "bilinear or nearest is expected")


def _resized(lower: Lower, preserved: bool = False) -> Row:
    return row(
        lower,
        IMAGES,
        OF_FLOATS,
        SCALES,
        layouts=channels_last,
        preserved=preserved,
        annotation=ARITHMETIC,
    )


ROWS: dict[str, Row] = {
    "aten.pixel_shuffle.default": row(
        _shuffle("DepthToSpace", "upscale_factor"), IMAGES, layouts=channels_last, preserved=True,
        annotation=SHARED,
    ),
    "aten.pixel_unshuffle.default": row(
        _shuffle("SpaceToDepth", "downscale_factor"), IMAGES, layouts=channels_last, preserved=True,
        annotation=SHARED,
    ),
    "aten.channel_shuffle.default": row(
        _channel_shuffle, IMAGES, layouts=either, preserved=True, annotation=SHARED
    ),
    "aten.upsample_bilinear2d.vec": _resized(_bilinear),
    "aten.upsample_nearest2d.vec": _resized(_nearest),
    "aten.upsample_bicubic2d.vec": _resized(_bicubic, preserved=True),
    "aten.grid_sampler_2d.default": row(_grid_sample, IMAGES, OF_FLOATS, GRID, layouts=_with_grid),
}  # fmt: skip
