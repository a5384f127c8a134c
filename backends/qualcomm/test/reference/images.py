# SPDX-License-Identifier: BSD-3-Clause
"""Resizes, samples by a grid and rearrangements of NHWC."""

from __future__ import annotations

import torch
from torch.nn import functional as F

from executorch.backends.qualcomm.test.reference.row import (
    ANY,
    Call,
    Row,
    enum,
    f32,
    flag,
    u32,
    u32s,
)

_HALF_PIXEL, _PYTORCH_HALF_PIXEL, _ALIGN_CORNERS, _ASYMMETRIC = range(4)
_NEAREST, _LINEAR, _CUBIC = range(3)
_PREFER_FLOOR, _PREFER_CEIL, _FLOOR, _CEIL = range(4)
_ROUNDING = {
    _PREFER_FLOOR: lambda place: torch.ceil(place - 0.5),
    _PREFER_CEIL: lambda place: torch.floor(place + 0.5),
    _FLOOR: torch.floor,
    _CEIL: torch.ceil,
}


def _places(size: int, wanted: int, transformation: int) -> torch.Tensor:
    """Where each of `wanted` elements is among `size`."""
    index = torch.arange(wanted, dtype=torch.float64)
    if transformation == _ALIGN_CORNERS:
        return index * (size - 1) / max(wanted - 1, 1)
    if transformation == _ASYMMETRIC:
        return index * size / wanted
    if transformation == _PYTORCH_HALF_PIXEL and wanted == 1:
        return index
    return (2 * index + 1) * size / (2 * wanted) - 0.5


def _taps(place: torch.Tensor, size: int, interpolation: int, nearest: int, coefficient: float):
    """For each place: indices, before those outside are put at the edge, and their weights."""
    if interpolation == _NEAREST:
        return _ROUNDING[nearest](place)[:, None], torch.ones(len(place), 1, dtype=place.dtype)
    if interpolation == _LINEAR:
        place = place.clamp(0, size - 1)
        first = place.floor()
        part = place - first
        return torch.stack([first, first + 1], 1), torch.stack([1 - part, part], 1)
    index = place.floor()[:, None] + torch.arange(-1, 3)
    far, a = (place[:, None] - index).abs(), coefficient
    near_weight = ((a + 2) * far - (a + 3)) * far**2 + 1
    far_weight = a * (((far - 5) * far + 8) * far - 4)
    return index, torch.where(far <= 1, near_weight, far_weight)


def _resized(x, sizes, transformation, interpolation, nearest=_FLOOR, coefficient=-0.75, inside=0):
    """Along each axis by a matrix. `inside`: weights of elements outside are dropped."""
    for axis, wanted in enumerate(sizes, 1):
        size = x.shape[axis]
        places = _places(size, wanted, transformation)
        index, weights = _taps(places, size, interpolation, nearest, coefficient)
        if inside:
            weights = weights * ((index >= 0) & (index < size))
            weights = weights / weights.sum(1, keepdim=True)
        matrix = torch.zeros(wanted, size, dtype=weights.dtype)
        matrix.scatter_add_(1, index.clamp(0, size - 1).long(), weights)
        x = torch.tensordot(x.double(), matrix, ([axis], [1])).movedim(-1, axis)
    return x


def _sizes(call: Call, x) -> tuple[int, ...]:
    dims = call.outputs[0].dims
    if (dims[0], dims[-1], len(dims)) != (x.shape[0], x.shape[-1], x.ndim):
        raise ValueError(f"batch and channels of {tuple(x.shape)} in the output, found {dims}")
    return dims[1:-1]


def _of_flags(align_corners: bool, half_pixel_centers: bool) -> int:
    if align_corners and half_pixel_centers:
        raise ValueError("align_corners and half_pixel_centers exclude each other")
    return _ALIGN_CORNERS if align_corners else _HALF_PIXEL if half_pixel_centers else _ASYMMETRIC


def _resize_bilinear(call: Call, x, *, align_corners, half_pixel_centers, antialias):
    if antialias:
        raise ValueError("antialias is not evaluated")
    mode = _of_flags(align_corners, half_pixel_centers)
    return _resized(x, _sizes(call, x), mode, _LINEAR).to(x.dtype)


def _resize_nearest(call: Call, x, *, align_corners, half_pixel_centers):
    mode = _of_flags(align_corners, half_pixel_centers)
    nearest = _FLOOR if mode == _ASYMMETRIC else _PREFER_CEIL
    return _resized(x, _sizes(call, x), mode, _NEAREST, nearest).to(x.dtype)


def _resize(
    call: Call,
    x,
    *,
    exclude_outside,
    transformation_mode,
    interpolation_mode,
    nearest_mode,
    cubic_coeff,
):
    inside = exclude_outside and interpolation_mode == _CUBIC
    modes = (transformation_mode, interpolation_mode, nearest_mode)
    return _resized(x, _sizes(call, x), *modes, cubic_coeff, inside).to(x.dtype)


def _grid_sample(x, grid, *, align_corners, mode, padding_mode):
    names = ("bilinear", "nearest")[mode], ("zeros", "border", "reflection")[padding_mode]
    return F.grid_sample(x.movedim(-1, 1), grid, *names, align_corners).movedim(1, -1)


def _depth_to_space(x, *, block_size, mode):
    """Channels are rows of a block, columns, then depth (DCR 0), or depth first (CRD 1)."""
    if mode == 0:
        split = x.unflatten(-1, (*block_size, -1))
    else:
        split = x.unflatten(-1, (-1, *block_size)).movedim(-3, -1)
    return split.permute(0, 1, 3, 2, 4, 5).flatten(1, 2).flatten(2, 3)


def _space_to_depth(x, *, block_size, mode):
    rows, columns = block_size
    split = x.unflatten(2, (-1, columns)).unflatten(1, (-1, rows)).transpose(2, 3)
    if mode == 1:
        split = split.movedim(-1, -3)
    return split.flatten(-3)


def _channel_shuffle(x, *, num_groups, axis):
    return x.unflatten(axis, (num_groups, -1)).transpose(axis, axis + 1).flatten(axis, axis + 1)


_FLAGS = {"align_corners": flag(False), "half_pixel_centers": flag(False)}
_BLOCKS = {"block_size": u32s(2), "mode": enum(2, 0)}

ROWS = {
    "ResizeBilinear": Row(
        _resize_bilinear, parameters={**_FLAGS, "antialias": flag(False)}, takes_call=True
    ),
    "ResizeNearestNeighbor": Row(_resize_nearest, parameters=_FLAGS, takes_call=True),
    "Resize": Row(
        _resize,
        parameters={
            "exclude_outside": flag(False),
            "transformation_mode": enum(4, _HALF_PIXEL),
            "interpolation_mode": enum(3, _NEAREST),
            "nearest_mode": enum(4, _PREFER_FLOOR),
            "cubic_coeff": f32(-0.75),
        },
        takes_call=True,
    ),
    "GridSample": Row(
        _grid_sample,
        (2, 2),
        {"align_corners": flag(False), "mode": enum(2, 0), "padding_mode": enum(3, 0)},
    ),
    "DepthToSpace": Row(_depth_to_space, parameters=_BLOCKS, takes=(ANY,), is_data_movement=True),
    "SpaceToDepth": Row(_space_to_depth, parameters=_BLOCKS, takes=(ANY,), is_data_movement=True),
    "ChannelShuffle": Row(
        _channel_shuffle,
        parameters={"num_groups": u32(), "axis": u32()},
        takes=(ANY,),
        is_data_movement=True,
    ),
}
