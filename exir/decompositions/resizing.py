# SPDX-License-Identifier: BSD-3-Clause
"""Images resized by a wide filter, as two matmuls: a row of weights for each row and each column of the result."""

from __future__ import annotations

from typing import Any

import torch

from executorch.exir.decompositions.sizes import CannotDecompose

aten = torch.ops.aten
Tensor = torch.Tensor


def _cubic(distance: Tensor) -> Tensor:
    """Keys' filter with a = -0.5, of distances from 0 on."""
    t = distance
    near = (1.5 * t - 2.5) * t * t + 1
    far = ((t - 5) * t + 8) * t * -0.5 + 2
    return torch.where(t < 1, near, torch.where(t < 2, far, 0.0))


def _weights(size: Any, count: Any, align_corners: bool, factor: float | None) -> Tensor:
    """[count, size]: what each of `size` values is worth in each of `count` results, in float64.

    Where the image shrinks, by `scale` > 1, the filter is as many times wider."""
    if size == count:
        scale = 1.0  # not resampled, whatever the factor
    elif align_corners:
        scale = (size - 1) / (count - 1) if count > 1 else 0.0
    else:
        scale = 1 / factor if factor else size / count
    wide = max(scale, 1.0)
    center = (torch.arange(count, dtype=torch.float64) + 0.5).unsqueeze(1) * scale
    place = torch.arange(size, dtype=torch.float64).unsqueeze(0)
    begin = torch.trunc((center - 2 * wide + 0.5).clamp(min=0))
    end = torch.trunc(center + 2 * wide + 0.5)
    weights = _cubic(torch.abs(place - center + 0.5) / wide)
    weights = torch.where(torch.logical_and(place >= begin, place < end), weights, 0.0)
    return weights / weights.sum(1, True)


def _bicubic_aa(
    self: Tensor,
    output_size: list[Any],
    align_corners: bool,
    scales_h: float | None = None,
    scales_w: float | None = None,
) -> Tensor:
    if not self.dtype.is_floating_point:
        raise CannotDecompose("results of bytes are rounded after each direction")
    sizes = [*self.shape[2:], *output_size]
    if not all(isinstance(size, int) for size in sizes):
        raise CannotDecompose("a size that varies")
    dtype = torch.promote_types(self.dtype, torch.float32)
    rows = _weights(sizes[0], sizes[2], align_corners, scales_h).to(dtype)
    columns = _weights(sizes[1], sizes[3], align_corners, scales_w).to(dtype)
    return (rows @ self.to(dtype) @ columns.t()).to(self.dtype)


RESIZING = {aten._upsample_bicubic2d_aa.default: _bicubic_aa}
