# SPDX-License-Identifier: BSD-3-Clause
"""Resizing of signals, images and volumes by the kernels for images, which leave a dimension alone whose size stays,
as eager PyTorch does (12 positions by 1.05 are 12). torch's decompositions resample it."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import torch
import torch._decomp.decompositions as torch_decompositions
from torch._prims_common import suggest_memory_format

from executorch.exir.sym_util import surely_equal

aten = torch.ops.aten
Tensor = torch.Tensor
_bilinear = aten.upsample_bilinear2d.vec


def _linear1d(
    input: Tensor,
    output_size: Sequence[Any] | None,
    align_corners: bool,
    scale_factors: Sequence[float] | None,
) -> Tensor:
    """An image of one row."""
    if not input.is_floating_point():
        return _linear(input, output_size, align_corners, scale_factors)
    sizes = [1, *output_size] if output_size is not None else None
    factors = [1.0, *scale_factors] if scale_factors is not None else None
    return _bilinear(input.unsqueeze(2), sizes, align_corners, factors).squeeze(2)


def _trilinear3d(
    input: Tensor,
    output_size: Sequence[Any] | None,
    align_corners: bool,
    scale_factors: Sequence[float] | None,
) -> Tensor:
    """All slices as images, then each line of depth as a column of one; rounded once."""
    if not input.is_floating_point():
        return _linear(input, output_size, align_corners, scale_factors)
    n, c, d = input.shape[:3]
    sizes = list(output_size) if output_size is not None else [None] * 3
    factors = list(scale_factors) if scale_factors is not None else None
    planes = input.to(torch.promote_types(input.dtype, torch.float32))
    planes = planes.reshape(n, c * d, *input.shape[3:])
    planes = _bilinear(
        planes, None if factors else sizes[1:], align_corners, factors and factors[1:]
    )
    h, w = planes.shape[2:]
    columns = planes.reshape(n, c, d, h * w)
    columns = _bilinear(
        columns,
        None if factors else [sizes[0], h * w],
        align_corners,
        factors and [factors[0], 1.0],
    )
    result = columns.reshape(n, c, columns.shape[2], h, w).to(input.dtype)
    return result.contiguous(memory_format=suggest_memory_format(input))


def _scales(input: Tensor, output_size: Sequence[Any], scales: Sequence[Any]) -> list[Any]:
    """None for the dimensions whose size stays."""
    before = input.shape[2:]
    return [
        None if surely_equal(old, new) else scale
        for old, new, scale in zip(before, output_size, scales, strict=True)
    ]


def _linear(
    input: Tensor,
    output_size: Sequence[Any] | None,
    align_corners: bool,
    scale_factors: Sequence[Any] | None,
) -> Tensor:
    sizes = torch_decompositions.upsample_compute_output_size(
        input.size(), output_size, scale_factors
    )
    return _linear_of_size(input, sizes, align_corners, *(scale_factors or ()))


def _linear_of_size(
    input: Tensor, output_size: Sequence[Any], align_corners: bool, *scales: float | None
) -> Tensor:
    scales = scales or (None,) * len(output_size)
    return torch_decompositions._upsample_linear(
        input, output_size, align_corners, _scales(input, output_size, scales)
    )


def _nearest2d_of_size(
    input: Tensor,
    output_size: Sequence[Any],
    scales_h: float | None = None,
    scales_w: float | None = None,
) -> Tensor:
    scales = _scales(input, output_size, (scales_h, scales_w))
    return torch_decompositions._upsample_nearest(input, output_size, scales)


def _bicubic2d(
    input: Tensor,
    output_size: Sequence[Any],
    align_corners: bool,
    scales_h: float | None = None,
    scales_w: float | None = None,
) -> Tensor:
    """Eager resamples by every factor; of bytes, it leaves alone what keeps its size."""
    scales = [scales_h, scales_w]
    if input.dtype == torch.uint8:
        scales = _scales(input, output_size, scales)
    return torch_decompositions.upsample_bicubic2d_default(
        input, output_size, align_corners, *scales
    )


def _bicubic2d_vec(
    input: Tensor,
    output_size: Sequence[Any] | None,
    align_corners: bool,
    scale_factors: Sequence[float] | None = None,
) -> Tensor:
    sizes = torch_decompositions.upsample_compute_output_size(
        input.size(), output_size, scale_factors
    )
    return _bicubic2d(input, sizes, align_corners, *(scale_factors or (None, None)))


RESIZING = {
    aten.upsample_linear1d.vec: _linear1d,
    aten.upsample_trilinear3d.vec: _trilinear3d,
    aten.upsample_linear1d.default: _linear_of_size,
    aten.upsample_bilinear2d.default: _linear_of_size,
    aten.upsample_trilinear3d.default: _linear_of_size,
    aten.upsample_nearest2d.default: _nearest2d_of_size,
    aten.upsample_bicubic2d.default: _bicubic2d,
    aten.upsample_bicubic2d.vec: _bicubic2d_vec,
}
