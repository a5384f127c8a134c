# SPDX-License-Identifier: BSD-3-Clause
"""In which bytes quantized weights are: what fusions write, eager implementations read, and the runtime's shaders."""

from __future__ import annotations

import torch
from torch import Tensor


def padded_to(tensor: Tensor, multiple: int) -> Tensor:
    """With zeros behind the last dimension."""
    missing = -tensor.shape[-1] % multiple
    return torch.nn.functional.pad(tensor, (0, missing)) if missing else tensor


def nibbles(weights: Tensor, low_first: bool, multiple: int) -> Tensor:
    """int8 [N, K] of -8..7 -> uint8 [N, K' / 2], two neighbours in a byte; K' is a multiple of `multiple`. Each is
    stored with 8 added, padding as 0 of the weights."""
    whole = (padded_to(weights, multiple).to(torch.int16) + 8).to(torch.uint8)
    even, odd = whole[..., 0::2], whole[..., 1::2]
    return (odd << 4 | even) if low_first else (even << 4 | odd)


def from_nibbles(packed: Tensor, low_first: bool) -> Tensor:
    """int8 of -8..7, padding included."""
    low, high = (packed & 15).to(torch.int8) - 8, (packed >> 4).to(torch.int8) - 8
    pair = (low, high) if low_first else (high, low)
    return torch.stack(pair, dim=-1).flatten(-2)


def rows_of_filters(weight: Tensor) -> Tensor:
    """int8 [OC, IC/g, H, W] -> [OC, H*W*(IC/g)], in the order height, width, channel; rows padded to 4."""
    return padded_to(weight.permute(0, 2, 3, 1).flatten(1), 4)


def rows_of_transposed(weight: Tensor, groups: int) -> Tensor:
    """int8 [IC, OC/g, H, W] of a transposed convolution -> the same rows."""
    parts = [rows_of_filters(part.transpose(0, 1)) for part in weight.chunk(groups)]
    return torch.cat(parts)


def depthwise_taps(weight: Tensor) -> Tensor:
    """int8 [OC, 1, H, W] -> [H, W, OC]."""
    return weight.squeeze(1).permute(1, 2, 0)


def sums_of_rows(weight: Tensor) -> Tensor:
    """int32 [N] of int8 [N, ...], padded to 4."""
    return padded_to(weight.flatten(1).sum(1, dtype=torch.int32), 4)


def sums_of_groups(weight: Tensor, group_size: int) -> Tensor:
    """int32 [K/g, N] of int8 [N, K], N padded to 8."""
    sums = weight.unflatten(1, (-1, group_size)).sum(-1, dtype=torch.int32)
    return padded_to(sums.t().contiguous(), 8)
