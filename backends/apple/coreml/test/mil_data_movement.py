# SPDX-License-Identifier: BSD-3-Clause
"""What operations of an ML Program move: shapes, slices, gathers and scatters, order, resizing, and what they make."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import torch
import torch.nn.functional as F
from torch import Tensor

from executorch.backends.apple.coreml.test.mil_operations import ints
from executorch.backends.test.conformance.backend import Unknown

# ---- Shapes ----


def _reshape(x: Tensor, shape: Tensor) -> Tensor:
    sizes = ints(shape)
    behind = x.dim() - len(sizes)  # zeros stand for sizes of x, counted from the last
    kept = [x.shape[i + behind] if i + behind >= 0 else 1 for i in range(len(sizes))]
    return x.reshape([kept[i] if size == 0 else size for i, size in enumerate(sizes)])


def _squeeze(x: Tensor, axes: Any = None) -> Tensor:
    return x.squeeze() if axes is None else x.squeeze(ints(axes))


def _expand_dims(x: Tensor, axes: Tensor) -> Tensor:
    rank = x.dim() + axes.numel()
    for axis in sorted(axis % rank for axis in ints(axes)):
        x = x.unsqueeze(axis)
    return x


def _concat(values: list[Tensor], axis: Any, interleave: Any = False) -> Tensor:
    values = [each.reshape(1) if each.dim() == 0 else each for each in values]
    if not bool(interleave):
        return torch.cat(values, int(axis))
    return torch.stack(values, int(axis) % values[0].dim() + 1).flatten(int(axis), int(axis) + 1)


def _split(x: Tensor, axis: Any, num_splits: Any = None, split_sizes: Any = None) -> Any:
    sizes = x.shape[int(axis)] // int(num_splits) if split_sizes is None else ints(split_sizes)
    return x.split(sizes, int(axis))


def _pad(x: Tensor, pad: Tensor, mode: str = "constant", constant_val: Any = 0.0) -> Tensor:
    """Of the last dimensions, before and after each."""
    given = ints(pad)
    pairs = [given[i : i + 2] for i in range(0, len(given), 2)]
    while pairs and pairs[0] == [0, 0]:
        pairs = pairs[1:]
    flat = [each for pair in reversed(pairs) for each in pair]
    if not flat:
        return x
    if mode == "constant":
        return F.pad(x, flat, value=constant_val.item())
    last = x.shape[x.dim() - len(pairs) :]
    found = F.pad(x.reshape(1, -1, *last), flat, mode=mode)  # PyTorch wants two in front
    return found.reshape(*x.shape[: x.dim() - len(pairs)], *found.shape[2:])


def _crop(x: Tensor, crop_height: Tensor, crop_width: Tensor) -> Tensor:
    (top, bottom), (left, right) = ints(crop_height), ints(crop_width)
    return x[..., top : x.shape[-2] - bottom, left : x.shape[-1] - right]


# ---- Slices ----


def _slices(
    x: Tensor,
    begin: Tensor,
    end: Tensor,
    stride: Any,
    begin_mask: Any,
    end_mask: Any,
    squeeze_mask: Any,
) -> list[Tensor]:
    """The places of each dimension."""
    off = torch.zeros(x.dim(), dtype=torch.bool)
    steps = [1] * x.dim() if stride is None else ints(stride)
    masks = [off if each is None else each for each in (begin_mask, end_mask, squeeze_mask)]
    found = []
    for dim, (first, last, step) in enumerate(zip(ints(begin), ints(end), steps, strict=True)):
        from_start, to_end, is_one = (bool(mask[dim]) for mask in masks)
        if is_one:
            found.append(torch.tensor([first % x.shape[dim]]))
            continue
        places = slice(None if from_start else first, None if to_end else last, step)
        found.append(torch.tensor(range(*places.indices(x.shape[dim])), dtype=torch.long))
    return found


def _grid(places: list[Tensor]) -> tuple[Tensor, ...]:
    return torch.meshgrid(*places, indexing="ij")


def _slice(
    x: Tensor, begin: Tensor, end: Tensor, stride: Any = None, begin_mask: Any = None, end_mask: Any = None,
    squeeze_mask: Any = None,
) -> Tensor:  # fmt: skip
    found = x[_grid(_slices(x, begin, end, stride, begin_mask, end_mask, squeeze_mask))]
    gone = [] if squeeze_mask is None else squeeze_mask.nonzero().flatten().tolist()
    return found.squeeze(gone) if gone else found


def _slice_update(
    x: Tensor, update: Tensor, begin: Tensor, end: Tensor, stride: Any = None, begin_mask: Any = None,
    end_mask: Any = None, squeeze_mask: Any = None,
) -> Tensor:  # fmt: skip
    places = _grid(_slices(x, begin, end, stride, begin_mask, end_mask, squeeze_mask))
    return x.index_put(places, update.reshape(places[0].shape))


def _slice_by_size(x: Tensor, begin: Tensor, size: Tensor) -> Tensor:
    for dim, (first, count) in enumerate(zip(ints(begin), ints(size), strict=True)):
        x = x.narrow(dim, first, x.shape[dim] - first if count == -1 else count)
    return x


# ---- Gathers and scatters ----


def _gather(
    x: Tensor, indices: Tensor, axis: Any = 0, batch_dims: Any = 0, validate_indices: Any = False
) -> Tensor:
    if int(batch_dims):
        raise Unknown("gather with batch dimensions")
    dim = int(axis) % x.dim()
    places = indices % x.shape[dim]
    found = x.index_select(dim, places.flatten())
    return found.reshape([*x.shape[:dim], *indices.shape, *x.shape[dim + 1 :]])


def _gather_along(
    x: Tensor, indices: Tensor, axis: Any = 0, validate_indices: Any = False
) -> Tensor:
    return x.gather(int(axis), indices % x.shape[int(axis)])


def _gather_nd(
    x: Tensor, indices: Tensor, batch_dims: Any = 0, validate_indices: Any = False
) -> Tensor:
    if int(batch_dims):
        raise Unknown("gather_nd with batch dimensions")
    return x[tuple(indices.unbind(-1))]


def _combined(data: Tensor, places: tuple[Tensor, ...], updates: Tensor, mode: str) -> Tensor:
    """`updates` at `places`; one after the other where places come more than once."""
    if mode == "update":
        return data.index_put(places, updates)
    if mode in ("add", "sub"):
        return data.index_put(places, updates if mode == "add" else -updates, accumulate=True)
    size = torch.tensor(data.shape)
    flat = torch.zeros((), dtype=torch.long)
    for dim, place in enumerate(places):
        flat = flat * size[dim] + place
    each = flat.unsqueeze(-1) if updates.dim() > flat.dim() else flat
    kind = {"mul": "prod", "min": "amin", "max": "amax"}.get(mode)
    if kind is None or len(places) != data.dim():
        raise Unknown(f"scatter with mode {mode}")
    found = data.flatten().scatter_reduce(0, each.flatten(), updates.flatten(), kind)
    return found.reshape(data.shape)


def _scatter(
    data: Tensor,
    indices: Tensor,
    updates: Tensor,
    axis: Any = 0,
    mode: str = "add",
    validate_indices: Any = False,
) -> Tensor:
    dim = int(axis) % data.dim()
    moved = data.movedim(dim, 0)
    grid = _grid([indices % data.shape[dim], *map(torch.arange, moved.shape[1:])])
    return _combined(moved, grid, updates.movedim(dim, 0), mode).movedim(0, dim)


def _scatter_along(
    data: Tensor,
    indices: Tensor,
    updates: Tensor,
    axis: Any = 0,
    mode: str = "add",
    validate_indices: Any = False,
) -> Tensor:
    dim = int(axis) % data.dim()
    grid = list(_grid([*map(torch.arange, indices.shape)]))
    grid[dim] = indices % data.shape[dim]
    return _combined(data, tuple(grid), updates, mode)


def _scatter_nd(
    data: Tensor, indices: Tensor, updates: Tensor, mode: str = "add", validate_indices: Any = False
) -> Tensor:
    return _combined(data, tuple(indices.unbind(-1)), updates, mode)


# ---- Order ----


def _topk(
    x: Tensor, k: Any = 1, axis: Any = -1, ascending: Any = False, sort: Any = True, return_indices: Any = True,
    output_indices_dtype: str = "int32",
) -> Any:  # fmt: skip
    count = x.shape[int(axis)] if int(k) == -1 else int(k)
    values, places = x.topk(count, int(axis), largest=not bool(ascending), sorted=True)
    return (values, places) if bool(return_indices) else values


def _argsort(
    x: Tensor, axis: Any = -1, ascending: Any = False, output_dtype: str = "int32"
) -> Tensor:
    return torch.argsort(x, dim=int(axis), descending=not bool(ascending), stable=True)


# ---- Resizing ----


def _upsample(mode: str) -> Callable[..., Tensor]:
    def compute(
        x: Tensor,
        scale_factor_height: Any = 1,
        scale_factor_width: Any = 1,
        align_corners: Any = True,
    ) -> Tensor:
        factors = zip(x.shape[-2:], (scale_factor_height, scale_factor_width), strict=True)
        # factors are float32: 5 * 1.2 is 6
        sizes = [int(torch.floor(torch.tensor(float(size)) * factor)) for size, factor in factors]
        more = {"align_corners": bool(align_corners)} if mode == "bilinear" else {}
        return _resized(x, sizes, mode, **more)

    return compute


def _resized(x: Tensor, sizes: list[int], mode: str, **more: Any) -> Tensor:
    rows = x.reshape(-1, 1, *x.shape[-2:])
    return F.interpolate(rows, sizes, mode=mode, **more).reshape(*x.shape[:-2], *sizes)


def _resize_nearest(x: Tensor, target_size_height: Any, target_size_width: Any) -> Tensor:
    return _resized(x, [int(target_size_height), int(target_size_width)], "nearest")


_ALIGNED = {"STRICT_ALIGN_CORNERS": True, "ALIGN_CORNERS": True, "UNALIGN_CORNERS": False}


def _resize_bilinear(
    x: Tensor,
    target_size_height: Any = 1,
    target_size_width: Any = 1,
    sampling_mode: str = "DEFAULT",
) -> Tensor:
    if sampling_mode not in _ALIGNED:
        raise Unknown(f"resize_bilinear with sampling_mode {sampling_mode}")
    sizes = [int(target_size_height), int(target_size_width)]
    return _resized(x, sizes, "bilinear", align_corners=_ALIGNED[sampling_mode])


_PADDINGS = {"constant": "zeros", "border": "border", "reflection": "reflection"}


def _resample(
    x: Tensor, coordinates: Tensor, sampling_mode: str, padding_mode: str, padding_value: Any, coordinates_mode: str,
    align_corners: Any,
) -> Tensor:  # fmt: skip
    is_known = coordinates_mode == "normalized_minus_one_to_one" and padding_mode in _PADDINGS
    if not is_known or float(padding_value):
        raise Unknown(f"resample with {coordinates_mode}, {padding_mode}, {float(padding_value)}")
    return F.grid_sample(
        x, coordinates, sampling_mode, _PADDINGS[padding_mode], align_corners=bool(align_corners)
    )


# ---- What is made ----


def _one_hot(
    indices: Tensor, one_hot_vector_size: Any, axis: Any = -1, on_value: Any = 1, off_value: Any = 0
) -> Tensor:
    is_on = F.one_hot(indices, int(one_hot_vector_size)).movedim(-1, int(axis)).bool()
    return torch.where(is_on, on_value, off_value)


def _band_part(x: Tensor, lower: Any = -1, upper: Any = -1) -> Tensor:
    x = x if int(upper) < 0 else x.tril(int(upper))
    return x if int(lower) < 0 else x.triu(-int(lower))


DATA_MOVEMENT: dict[str, Callable[..., Any]] = {
    "reshape": _reshape,
    "squeeze": _squeeze,
    "expand_dims": _expand_dims,
    "transpose": lambda x, perm: x.permute(ints(perm)),
    "concat": _concat,
    "stack": lambda values, axis: torch.stack(values, int(axis)),
    "split": _split,
    "tile": lambda x, reps: x.repeat(ints(reps)),
    "reverse": lambda x, axes=None: x.flip(list(range(x.dim())) if axes is None else ints(axes)),
    "pad": _pad,
    "crop": _crop,
    "pixel_shuffle": lambda x, upscale_factor: F.pixel_shuffle(x, int(upscale_factor)),
    "pixel_unshuffle": lambda x, downscale_factor: F.pixel_unshuffle(x, int(downscale_factor)),
    "band_part": _band_part,
    "slice_by_index": _slice,
    "slice_by_size": _slice_by_size,
    "slice_update": _slice_update,
    "gather": _gather,
    "gather_along_axis": _gather_along,
    "gather_nd": _gather_nd,
    "scatter": _scatter,
    "scatter_along_axis": _scatter_along,
    "scatter_nd": _scatter_nd,
    "topk": _topk,
    "argsort": _argsort,
    "non_zero": lambda x: x.nonzero(),
    "upsample_nearest_neighbor": _upsample("nearest"),
    "upsample_bilinear": _upsample("bilinear"),
    "resize_nearest_neighbor": _resize_nearest,
    "resize_bilinear": _resize_bilinear,
    "resample": _resample,
    "shape": lambda x: torch.tensor(x.shape),
    "range_1d": lambda start, end, step: torch.arange(start.item(), end.item(), step.item()),
    "fill": lambda shape, value=0.0: torch.full(ints(shape), value.item()),
    "fill_like": lambda ref_tensor, value=0.0: torch.full(ref_tensor.shape, value.item()),
    "one_hot": _one_hot,
    "random_normal": lambda shape, mean=0.0, stddev=1.0, seed=-1: (
        torch.randn(ints(shape)) * stddev + mean
    ),
    "random_uniform": lambda shape, low=0.0, high=1.0, seed=-1: (
        torch.rand(ints(shape)) * (high - low) + low
    ),
    "random_bernoulli": lambda shape, prob=0.5, seed=-1: (torch.rand(ints(shape)) < prob).float(),
}
