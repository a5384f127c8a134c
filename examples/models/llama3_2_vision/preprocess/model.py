# SPDX-License-Identifier: BSD-3-Clause
"""How Llama 3.2 takes images, as an example model; it is ImageTiles of extension/llm/modules."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import torch
from torch.export import Dim

from executorch.examples.models.model_base import EagerModelBase
from executorch.extension.llm.modules.image_tiles import (
    ImageTiles,
    Size,
    best_canvas,
    canvases,
    size_within,
)


@dataclass
class PreprocessConfig:
    """`possible_resolutions`: canvases (height, width), None for all of at most `max_num_tiles` tiles."""

    image_mean: list[float] | None = None
    image_std: list[float] | None = None
    resample: str = "bilinear"
    max_num_tiles: int = 4
    tile_size: int = 224
    antialias: bool = False
    resize_to_max_canvas: bool = False
    possible_resolutions: list[Size] | None = None


class CLIPImageTransformModel(EagerModelBase):
    def __init__(self, config: PreprocessConfig) -> None:
        self.config = config

    def get_eager_model(self) -> torch.nn.Module:
        c = self.config
        options = (c.resample, c.antialias, c.image_mean, c.image_std)
        return ImageTiles(c.tile_size, c.max_num_tiles, *options)

    def sizes_for(self, image: Size) -> tuple[torch.Tensor, torch.Tensor]:
        """target_size and canvas_size of an image of this height and width."""
        c = self.config
        choices = c.possible_resolutions or canvases(c.max_num_tiles, c.tile_size)
        canvas = best_canvas(image, choices, c.resize_to_max_canvas)
        target = size_within(image, canvas, None if c.resize_to_max_canvas else c.tile_size)
        return torch.tensor(target), torch.tensor(canvas)

    def get_example_inputs(self) -> tuple[torch.Tensor, torch.Tensor, torch.Tensor]:
        return torch.ones(3, 800, 600), *self.sizes_for((800, 600))

    def get_dynamic_shapes(self) -> dict[str, Any]:
        sides = {1: Dim("img_h", min=1, max=4000), 2: Dim("img_w", min=1, max=4000)}
        return {"image": sides, "target_size": None, "canvas_size": None}
