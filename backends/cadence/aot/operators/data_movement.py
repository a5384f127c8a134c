# SPDX-License-Identifier: BSD-3-Clause
"""What puts values elsewhere: rows of an image, rows of a table, rotated positions, bits of a mask, copies by DMA."""

from __future__ import annotations

from collections.abc import Sequence

import torch
import torch.nn.functional as F
from torch import Tensor

from executorch.backends.cadence.aot.operators.library import LIBRARY
from executorch.exir.backend.lowering.kernels.formulas import Number

# ---- Windows of an image as rows ----


def _rows(
    image: Tensor,
    kernel_size: Sequence[int],
    dilation: Sequence[int],
    padding: Sequence[int],
    stride: Sequence[int],
    zero_point: Number,
) -> Tensor:
    """[N, C, H, W] -> [N, places, C, kernel]; outside of the image is the zero point."""
    point = zero_point.reshape(-1)[0] if isinstance(zero_point, Tensor) else zero_point
    windows = F.unfold(
        image.double() - point, list(kernel_size), list(dilation), list(padding), list(stride)
    )
    windows = (windows + point).to(image.dtype).mT
    return windows.unflatten(-1, (image.shape[1], -1))


@LIBRARY.implement("im2row", "im2row.per_tensor")
def im2row(
    input: Tensor,
    kernel_size: Sequence[int],
    dilation: Sequence[int],
    padding: Sequence[int],
    stride: Sequence[int],
    in_zero_point: Number,
    channel_last: bool = False,
) -> Tensor:
    """Rows have the order [channel, kernel], of whatever image."""
    image = input.movedim(-1, 1) if channel_last else input
    return (
        _rows(image, kernel_size, dilation, padding, stride, in_zero_point).flatten(2).contiguous()
    )


@LIBRARY.implement("transposed_im2row")
def transposed_im2row(
    input: Tensor,
    kernel_size: Sequence[int],
    dilation: Sequence[int],
    padding: Sequence[int],
    stride: Sequence[int],
    output_padding: Sequence[int],
    in_zero_point: Tensor,
    channel_last: bool = False,
) -> Tensor:
    """Of the image that a transposed convolution is an ordinary one of. Rows: [channel, kernel], or channels last."""
    image = (input.movedim(-1, 1) if channel_last else input).double()
    point = in_zero_point.reshape(-1)[0]
    sizes, edges = [], []
    for place in range(2):
        sizes.append((image.shape[2 + place] - 1) * stride[place] + 1)
        edges.append(dilation[place] * (kernel_size[place] - 1) - padding[place])
    spread = image.new_zeros(*image.shape[:2], *sizes)
    spread[:, :, :: stride[0], :: stride[1]] = image - point
    around = [edges[1], edges[1] + output_padding[1], edges[0], edges[0] + output_padding[0]]
    padded = (F.pad(spread, around) + point).to(input.dtype)
    rows = _rows(padded, kernel_size, dilation, (0, 0), (1, 1), 0)
    return (rows.mT if channel_last else rows).flatten(2).contiguous()


# ---- Rows of a table ----


@LIBRARY.implement("quantized_embedding_byte")
def quantized_embedding_byte(
    weight: Tensor,
    weight_scales: Tensor,
    weight_zero_points: Tensor | None,
    indices: Tensor,
    pruned_weights: bool = False,
) -> Tensor:
    if pruned_weights:
        raise NotImplementedError("quantized_embedding_byte: pruned weights are not supported")
    rows, scales = weight[indices], weight_scales[indices]
    groups = scales.unsqueeze(-1) if weight_scales.dim() == 1 else scales
    width = weight.shape[1] // groups.shape[-1]
    values = rows.float()
    if weight_zero_points is not None:
        points = weight_zero_points[indices].float()
        points = points.unsqueeze(-1) if weight_zero_points.dim() == 1 else points
        values = values - points.repeat_interleave(width, -1)
    return values * groups.float().repeat_interleave(width, -1)


# ---- Positions ----


def _rotated(
    first: Tensor, second: Tensor, sin: Tensor, cos: Tensor, pos: Tensor | None
) -> tuple[Tensor, Tensor]:
    """[1, positions, .., half] each; a row of sin and cos for each position."""
    angles = [each if pos is None else each[pos.long()] for each in (sin, cos)]
    between = [1] * (first.dim() - 3)
    sines, cosines = (each.reshape(1, first.shape[1], *between, -1) for each in angles)
    return first * cosines - second * sines, first * sines + second * cosines


@LIBRARY.implement("rope")
def rope(input: Tensor, sin_tensor: Tensor, cos_tensor: Tensor, pos: Tensor | None) -> Tensor:
    """Of pairs of neighbours."""
    pairs = _by_row(input, sin_tensor).unflatten(-1, (-1, 2))
    made = torch.stack(_rotated(pairs[..., 0], pairs[..., 1], sin_tensor, cos_tensor, pos), -1)
    return made.reshape(input.shape)


@LIBRARY.implement("rope_rotate_stacked_halves")
def rope_rotate_stacked_halves(
    input: Tensor, sin_tensor: Tensor, cos_tensor: Tensor, pos: Tensor | None
) -> Tensor:
    """Of the values of one half and the other."""
    halves = _by_row(input, sin_tensor).chunk(2, -1)
    made = torch.cat(_rotated(*halves, sin_tensor, cos_tensor, pos), -1)
    return made.reshape(input.shape)


def _by_row(input: Tensor, sin: Tensor) -> Tensor:
    """The last dimension is twice as long as a row of sin: the last two are one where it is in two."""
    return input if input.shape[-1] == 2 * sin.shape[-1] else input.flatten(-2)


@LIBRARY.implement("sdpa_bitwise_mask_gen")
def sdpa_bitwise_mask_gen(mask: Tensor, threshold: float) -> Tensor:
    """Eight values per byte, the first in bit 0; 1 is hidden: False, or below the threshold."""
    hidden = ~mask if mask.dtype == torch.bool else mask < threshold
    bits = hidden.to(torch.int32).unflatten(-1, (-1, 8))
    weights = 2 ** torch.arange(8, dtype=torch.int32, device=mask.device)
    return (bits * weights).sum(-1).to(torch.uint8)


# ---- Copies ----


@LIBRARY.implement("idma_copy", "idma_load", "idma_store", "idma_wait")
def idma_copy(src: Tensor, task_num: int = 0, channel: int = 0) -> Tensor:
    return src.clone(memory_format=torch.contiguous_format)
