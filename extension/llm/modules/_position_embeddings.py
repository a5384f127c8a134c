# SPDX-License-Identifier: BSD-3-Clause
"""Where a tile of an image, and a patch in it, stand: embeddings that image encoders add.

An image is cut into rows x columns tiles (its aspect ratio), which come one after the other, followed by padding up
to the largest number of tiles. The tables have an entry for each (row, column). Which entry a tile takes is computed
from the aspect ratio, so a program takes images of any.
"""

from __future__ import annotations

from typing import Any

import torch
from torch import nn
from torch.nn import functional

from executorch.extension.llm.modules.replace import replace_torchtune


def _of_tiles(table: torch.Tensor, aspect_ratio: torch.Tensor, n_tiles: int) -> torch.Tensor:
    """Entries (images, n_tiles, ...) of `table` (rows, columns, ...); zeros for padding. `aspect_ratio` (images, 2)."""
    tiles = torch.arange(n_tiles)[None, :]
    rows, columns = aspect_ratio[:, :1], aspect_ratio[:, 1:]
    at = torch.div(tiles, columns, rounding_mode="floor").clamp(max=table.shape[0] - 1)
    found = table[at, tiles % columns]
    there = tiles < rows * columns
    return found * there.reshape(*there.shape, *[1] * (found.dim() - 2)).to(found.dtype)


def _resized(grid: torch.Tensor, side: int) -> torch.Tensor:
    """(rows, columns, ...) to `side` x `side` of them, bilinear between the corners."""
    rows, columns, *rest = grid.shape
    planes = grid.reshape(rows, columns, -1).permute(2, 0, 1)[None]
    planes = functional.interpolate(planes, (side, side), mode="bilinear", align_corners=True)
    return planes[0].permute(1, 2, 0).reshape(side, side, *rest)


def _expect_square(name: str, rows: int, columns: int) -> None:
    if rows != columns:
        raise ValueError(f"{name}: expected as many rows as columns, found {rows} x {columns}")


def _expect_same(name: str, what: str, expected: int, found: int) -> None:
    if expected != found:
        raise ValueError(f"{name}: expected {expected} {what}, found {found}")


class TilePositionalEmbedding(nn.Module):
    """Adds to all tokens of a tile the embedding of its place, times tanh of a gate that starts at 0.

    x (images, tiles, tokens, embed_dim), aspect_ratio int64 (images, 2): rows and columns of tiles. A table of
    another number of tiles in a checkpoint is resized while it is loaded.
    """

    def __init__(self, max_num_tiles: int, embed_dim: int) -> None:
        super().__init__()
        self.max_num_tiles, self.embed_dim = max_num_tiles, embed_dim
        table = torch.randn(max_num_tiles, max_num_tiles, 1, embed_dim) / embed_dim**0.5
        self.embedding = nn.Parameter(table)
        self.gate = nn.Parameter(torch.zeros(1))
        self._register_load_state_dict_pre_hook(self._load_state_dict_hook)

    def _load_state_dict_hook(self, state_dict: dict[str, Any], prefix: str, *_args: Any) -> None:
        name = f"{prefix}embedding"
        if name not in state_dict:
            return
        found = state_dict[name]
        _expect_same(name, "tokens", 1, found.shape[2])
        _expect_same(name, "elements of an embedding", self.embed_dim, found.shape[3])
        state_dict[name] = self._resize_position_embedding(found, self.max_num_tiles)

    @staticmethod
    def _resize_position_embedding(embedding: torch.Tensor, tgt_max_num_tiles: int) -> torch.Tensor:
        _expect_square("embedding", *embedding.shape[:2])
        return _resized(embedding, tgt_max_num_tiles)

    def forward(self, x: torch.Tensor, aspect_ratio: torch.Tensor) -> torch.Tensor:
        return x + _of_tiles(self.embedding, aspect_ratio, x.shape[1]) * self.gate.tanh()


class TiledTokenPositionalEmbedding(nn.Module):
    """Adds the place of a token in its tile, and, the more the gate opens, its place in the whole image.

    x (images, tiles, tokens, embed_dim), whose first token stands for the tile and the others for its patches row by
    row; aspect_ratio int64 (images, 2). Tables of other sizes in a checkpoint are resized while they are loaded.
    """

    def __init__(self, max_num_tiles: int, embed_dim: int, tile_size: int, patch_size: int) -> None:
        super().__init__()
        self.max_num_tiles, self.embed_dim = max_num_tiles, embed_dim
        self.patch_grid_size = tile_size // patch_size
        self.n_tokens_per_tile = self.patch_grid_size**2 + 1
        scale = embed_dim**-0.5
        local = torch.randn(self.n_tokens_per_tile, embed_dim) * scale
        self.local_token_positional_embedding = nn.Parameter(local)
        of_image = (max_num_tiles, max_num_tiles, self.n_tokens_per_tile, embed_dim)
        self.global_token_positional_embedding = nn.Parameter(torch.randn(of_image) * scale)
        self.gate = nn.Parameter(torch.zeros(1))
        self._register_load_state_dict_pre_hook(self._load_state_dict_hook)

    def _load_state_dict_hook(self, state_dict: dict[str, Any], prefix: str, *_args: Any) -> None:
        name = f"{prefix}local_token_positional_embedding"
        if name in state_dict:
            found = state_dict[name]
            _expect_same(name, "elements of an embedding", self.embed_dim, found.shape[-1])
            state_dict[name] = self._resize_local_position_embedding(found, self.patch_grid_size)
        name = f"{prefix}global_token_positional_embedding"
        if name in state_dict:
            found = state_dict[name]
            _expect_same(name, "elements of an embedding", self.embed_dim, found.shape[-1])
            sizes = (self.max_num_tiles, self.patch_grid_size)
            state_dict[name] = self._resize_global_position_embedding(found, *sizes)

    @staticmethod
    def _resize_local_position_embedding(
        local_pos_embed: torch.Tensor, tgt_patch_grid_size: int
    ) -> torch.Tensor:
        side = _side(local_pos_embed.shape[0])
        patches = local_pos_embed[1:].reshape(side, side, -1)
        patches = _resized(patches, tgt_patch_grid_size).flatten(0, 1)
        return torch.cat([local_pos_embed[:1], patches])

    @staticmethod
    def _resize_global_position_embedding(
        global_pos_embed: torch.Tensor, tgt_max_num_tiles: int, tgt_patch_grid_size: int
    ) -> torch.Tensor:
        tiles, columns, tokens, width = global_pos_embed.shape
        _expect_square("global_token_positional_embedding", tiles, columns)
        side = _side(tokens)
        # the patches of all tiles are one grid over the image
        patches = global_pos_embed[:, :, 1:].reshape(tiles, tiles, side, side, width)
        patches = patches.transpose(1, 2).reshape(tiles * side, tiles * side, width)
        patches = _resized(patches, tgt_max_num_tiles * tgt_patch_grid_size)
        cut = (tgt_max_num_tiles, tgt_patch_grid_size) * 2
        patches = patches.reshape(*cut, width).transpose(1, 2).flatten(2, 3)
        of_tiles = _resized(global_pos_embed[:, :, :1], tgt_max_num_tiles)
        return torch.cat([of_tiles, patches], 2)

    def forward(self, x: torch.Tensor, aspect_ratio: torch.Tensor) -> torch.Tensor:
        gate = self.gate.tanh()
        x = x + self.local_token_positional_embedding * (1 - gate)
        of_image = self.global_token_positional_embedding
        return x + _of_tiles(of_image, aspect_ratio, x.shape[1]) * gate


def _side(tokens: int) -> int:
    """Of the grid of patches behind the token of the tile."""
    side = int((tokens - 1) ** 0.5)
    if side * side != tokens - 1:
        raise ValueError(
            f"position embeddings: expected one token and a square of patches, found {tokens} tokens"
        )
    return side


def replace_tile_positional_embedding(model: nn.Module) -> nn.Module:
    """torchtune's TilePositionalEmbedding by ours, with its weights."""

    def make(theirs: Any) -> nn.Module:
        tiles, _, _, width = theirs.embedding.shape
        ours = TilePositionalEmbedding(tiles, width)
        ours.load_state_dict(theirs.state_dict())
        return ours

    return replace_torchtune(model, "TilePositionalEmbedding", make)


def replace_tiled_token_positional_embedding(model: nn.Module) -> nn.Module:
    """torchtune's TiledTokenPositionalEmbedding by ours, with its weights."""

    def make(theirs: Any) -> nn.Module:
        tiles, _, tokens, width = theirs.global_token_positional_embedding.shape
        ours = TiledTokenPositionalEmbedding(tiles, width, _side(tokens), 1)
        ours.load_state_dict(theirs.state_dict())
        return ours

    return replace_torchtune(model, "TiledTokenPositionalEmbedding", make)
