# SPDX-License-Identifier: BSD-3-Clause
"""Importing this registers `preprocess::tile_crop`, by which vision models of Llama 3.2 cut images. A program that
calls it needs a kernel of `preprocess::tile_crop.out`, which none of our libraries has."""

from __future__ import annotations

import torch
from torch import Tensor

MAX_NUM_TILES = 4  # what programs are planned for
preprocess_op_lib = torch.library.Library("preprocess", "FRAGMENT")
preprocess_op_lib.define("tile_crop(Tensor input, int tile_size) -> Tensor")
preprocess_op_lib.define(
    "tile_crop.out(Tensor input, int tile_size, *, Tensor(a!) out) -> Tensor(a!)"
)


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


def tile_crop_out_impl(input: Tensor, tile_size: int, out: Tensor) -> Tensor:
    result = tile_crop_impl(input, tile_size)
    return out.resize_(result.shape).copy_(result)


def tile_crop(input: Tensor, tile_size: int) -> Tensor:
    """Fake: the number of tiles is known when the program runs, since images of one model have different sides."""
    context = torch.library.get_ctx()
    tiles = context.new_dynamic_size(min=0, max=MAX_NUM_TILES)
    return input.new_empty((tiles, input.size(0), tile_size, tile_size))


preprocess_op_lib.impl("tile_crop", tile_crop_impl, "CompositeExplicitAutograd")
preprocess_op_lib.impl("tile_crop.out", tile_crop_out_impl, "CompositeExplicitAutograd")
torch.library.register_fake("preprocess::tile_crop", tile_crop, lib=preprocess_op_lib)
