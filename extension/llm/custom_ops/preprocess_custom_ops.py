# SPDX-License-Identifier: BSD-3-Clause
"""Importing this registers `preprocess::tile_crop`, by which vision models of Llama 3.2 cut images. Its
kernel is in the library custom_ops."""

from __future__ import annotations

import torch
from torch import Tensor

from executorch.extension.llm.custom_ops.register import register

MAX_NUM_TILES = 4  # what programs are planned for
preprocess_op_lib = torch.library.Library("preprocess", "FRAGMENT")


def _check(input: Tensor, tile_size: int) -> None:
    fits = input.dim() == 3 and tile_size > 0
    if not fits or any(size % tile_size for size in input.shape[1:]):
        raise ValueError(
            f"tile_crop: expected an image [channels, height, width] whose sides {tile_size} divides, found "
            f"{list(input.shape)}"
        )


def tile_crop_impl(input: Tensor, tile_size: int) -> Tensor:
    """[tiles, channels, tile_size, tile_size], tiles row by row."""
    _check(input, tile_size)
    rows = input.unflatten(1, (-1, tile_size)).unflatten(3, (-1, tile_size))  # c, y, t, x, t
    return rows.permute(1, 3, 0, 2, 4).flatten(0, 1).contiguous()


def tile_crop(output: Tensor, tile_size: int) -> Tensor:
    """Fake: the number of tiles is known when the program runs, since images of one model have different sides."""
    context = torch.library.get_ctx()
    tiles = context.new_dynamic_size(min=0, max=MAX_NUM_TILES)
    return output.new_empty((tiles, output.size(0), tile_size, tile_size))


register(preprocess_op_lib, {"tile_crop": (tile_crop_impl, tile_crop)})
