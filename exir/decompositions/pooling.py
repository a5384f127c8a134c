# SPDX-License-Identifier: BSD-3-Clause
"""Pooling to a given size: output i of n covers floor(i s / n) up to ceil((i + 1) s / n) of s inputs."""

from __future__ import annotations

from typing import Any

import torch

aten = torch.ops.aten
Tensor = torch.Tensor


def _windows(size: Any, count: Any) -> tuple[Tensor, Any]:
    """The places that each output covers, [count, width], and width; shorter windows repeat their last place."""
    if isinstance(size, int) and isinstance(count, int):
        width = max(-(-(i + 1) * size // count) - i * size // count for i in range(count))
    else:
        width = (size + count - 1) // count + 1
    number = torch.arange(count)
    first = torch.div(number * size, count, rounding_mode="floor")
    last = torch.div((number + 1) * size + (count - 1), count, rounding_mode="floor") - 1
    places = first.unsqueeze(1) + torch.arange(width).unsqueeze(0)
    return torch.minimum(places, last.unsqueeze(1)), width


def _adaptive_max(self: Tensor, output_size: list[Any]) -> tuple[Tensor, Tensor]:
    """Maxima and their places in the flattened plane. The windows of all dimensions are laid out side by side."""
    rank = len(output_size)
    outer = list(self.shape[: self.dim() - rank])
    x, place = self, torch.zeros((), dtype=torch.int64)
    outputs, widths = [], []
    for axis, count in enumerate(output_size):
        size = self.shape[len(outer) + axis]
        table, width = _windows(size, count)
        x = aten.index_select(x, len(outer) + axis, table.reshape(-1))
        outputs.append(count)
        widths.append(width)
        shape = [1] * (2 * rank)
        shape[axis], shape[rank + axis] = count, width
        place = place * size + table.view(shape)
    pairs = [size for pair in zip(outputs, widths, strict=True) for size in pair]
    outer_dims = list(range(len(outer)))
    order = [len(outer) + 2 * axis + part for part in (0, 1) for axis in range(rank)]
    x = x.view([*outer, *pairs]).permute(outer_dims + order).reshape([*outer, *outputs, -1])
    values, chosen = x.max(-1)
    place = place.expand([*outputs, *widths]).reshape([*outputs, -1])
    place = place.expand([*outer, *outputs, x.shape[-1]])
    return values, place.gather(-1, chosen.unsqueeze(-1)).squeeze(-1)


def _adaptive_max_pool2d(self: Tensor, output_size: list[Any]) -> tuple[Tensor, Tensor]:
    """A pool of fixed windows where they are all alike."""
    sizes = list(self.shape[-2:])
    known = all(isinstance(size, int) for size in (*sizes, *output_size))
    if known and all(size % count == 0 for size, count in zip(sizes, output_size, strict=True)):
        window = [size // count for size, count in zip(sizes, output_size, strict=True)]
        return aten.max_pool2d_with_indices(self, window, window)
    return _adaptive_max(self, output_size)


POOLING = {
    aten.adaptive_max_pool2d.default: _adaptive_max_pool2d,
    aten.adaptive_max_pool3d.default: _adaptive_max,
}
