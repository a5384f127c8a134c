# SPDX-License-Identifier: BSD-3-Clause
"""An image as tiles, as CLIP's encoder in Llama 3.2 takes it; whoever calls chooses the sizes."""

from __future__ import annotations

from collections.abc import Sequence

import torch
from torch import nn
from torch.nn import functional

from executorch.extension.llm.custom_ops import preprocess_custom_ops  # noqa: F401


class ImageTiles(nn.Module):
    """image (channels, height, width), target_size and canvas_size int64 (height, width): resized to the target, put
    into the upper left of the canvas, zeros around, and normalized if there are a mean and a deviation.

    Gives tiles (count, channels, tile_size, tile_size) row by row, and the canvas in tiles (rows, columns). A program
    takes images of any size, and canvases of up to `max_num_tiles`.
    """

    def __init__(
        self,
        tile_size: int,
        max_num_tiles: int,
        resample: str = "bilinear",
        antialias: bool = False,
        image_mean: Sequence[float] | None = None,
        image_std: Sequence[float] | None = None,
    ) -> None:
        super().__init__()
        if resample not in ("bilinear", "bicubic"):
            raise ValueError(f"resample: expected bilinear or bicubic, found {resample!r}")
        self.tile_size, self.longest = tile_size, tile_size * max_num_tiles
        self.resample, self.antialias = resample, antialias
        self.is_normalized = image_mean is not None and image_std is not None
        if self.is_normalized:
            for name, values in (("mean", image_mean), ("deviation", image_std)):
                column = torch.tensor(values)[:, None, None]
                self.register_buffer(name, column, persistent=False)

    def _sides(self, size: torch.Tensor) -> list[int]:
        sides = size.tolist()
        for side in sides:
            torch._check(side >= 2)
            torch._check(side <= self.longest)
        return sides

    def forward(
        self, image: torch.Tensor, target_size: torch.Tensor, canvas_size: torch.Tensor
    ) -> tuple[torch.Tensor, torch.Tensor]:
        height, width = self._sides(target_size)
        down, across = self._sides(canvas_size)
        resized = functional.interpolate(
            image.unsqueeze(0), (height, width), mode=self.resample, antialias=self.antialias
        )
        padded = functional.pad(resized.squeeze(0), (0, across - width, 0, down - height))
        if self.is_normalized:
            padded = (padded - self.mean) / self.deviation
        tiles = torch.ops.preprocess.tile_crop(padded, self.tile_size)
        return tiles, canvas_size // self.tile_size


Size = tuple[int, int]  # height, width


def canvases(max_num_tiles: int, tile_size: int) -> list[Size]:
    """All of at most so many tiles."""
    return [
        (rows * tile_size, columns * tile_size)
        for rows in range(1, max_num_tiles + 1)
        for columns in range(1, max_num_tiles // rows + 1)
    ]


def best_canvas(image: Size, choices: Sequence[Size], largest: bool = False) -> Size:
    """The canvas on which an image is enlarged least, else shrunk least; of equally good ones the smallest.

    `largest`: the one on which it is the largest.
    """
    scales = [min(canvas[0] / image[0], canvas[1] / image[1]) for canvas in choices]
    larger = [scale for scale in scales if scale >= 1]
    wanted = min(larger) if larger and not largest else max(scales)
    fitting = [canvas for canvas, scale in zip(choices, scales) if scale == wanted]
    return min(fitting, key=lambda canvas: canvas[0] * canvas[1])


def size_within(image: Size, canvas: Size, most: int | None = None) -> Size:
    """Of an image that fills its canvas and keeps its shape; not larger than it is, or than `most`, where that is
    given."""
    height, width = (
        whole if most is None else min(max(side, most), whole) for side, whole in zip(image, canvas)
    )
    down, across = height / image[0], width / image[1]
    if across < down:
        return min(int(image[0] * across), height), width
    return height, min(int(image[1] * down), width)
