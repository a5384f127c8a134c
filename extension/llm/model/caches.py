# SPDX-License-Identifier: BSD-3-Clause
"""Keys and values of earlier calls, as buffers.

All caches take (batch, kv heads, tokens, head) and give every row they have, (batch, kv heads, rows, head). A plain
cache holds position p in row p; a ring holds the last 2 * window positions; one with sinks keeps the first `sink`
positions besides. Rings know which position each row holds, and make the mask that goes with it.
"""

from __future__ import annotations

from enum import Enum

import torch
from torch import nn

from executorch.extension.llm.model.masks import positions_mask
from executorch.extension.llm.model.rope import Rope, token_positions


class CacheUpdateStrategy(Enum):
    RING_BUFFER = "RingBuffer"
    INVALID = "Invalid"


def sink_rows(positions: torch.Tensor, size: int, sink: int) -> torch.Tensor:
    """Rows of `size` that hold positions: the first `sink` stay, those after turn around in the rest."""
    if not sink:
        return positions % size
    return torch.where(positions < sink, positions, sink + (positions - sink) % (size - sink))


class CachePositionsManager(nn.Module):
    """Which position each row of a ring holds."""

    def __init__(
        self,
        max_context_length: int,
        cache_update_strategy: CacheUpdateStrategy = CacheUpdateStrategy.RING_BUFFER,
        sink_size: int = 0,
    ) -> None:
        super().__init__()
        if cache_update_strategy is not CacheUpdateStrategy.RING_BUFFER:
            raise ValueError(f"expected RING_BUFFER, found {cache_update_strategy}")
        self.max_context_length, self.sink_size = max_context_length, sink_size
        self.register_buffer("cache_positions", torch.full((max_context_length,), -1))

    def calculate_positions_and_update_indices(
        self, input_pos: torch.Tensor, seq_len: int
    ) -> torch.Tensor:
        """The rows (tokens,) that the tokens of a call go to; notes their positions.

        What a row held of a later position, from an earlier text, is forgotten.
        """
        positions = token_positions(input_pos, seq_len)
        rows = sink_rows(positions, self.max_context_length, self.sink_size)
        held = self.cache_positions
        held = torch.where(held < input_pos[0], held, -1).index_put((rows,), positions)
        self.cache_positions.copy_(held)
        return rows


class CachePositionsManagerWithSink(CachePositionsManager):
    def __init__(self, cache_size: int, sink_size: int = 0) -> None:
        super().__init__(cache_size, sink_size=sink_size)


class Ring:
    """What ring caches have in common; `window_size` positions are visible, `sink_size` first ones besides."""

    window_size: int
    sink_size: int = 0
    is_ring_buffer = True

    def create_causal_mask_for_ring_buffer(
        self, start_pos: torch.Tensor | int, seq_len: int
    ) -> torch.Tensor:
        """The mask (tokens, rows), for what the cache holds after `update`."""
        queries = start_pos + torch.arange(seq_len)
        held = self.cache_positions_manager.cache_positions
        return positions_mask(held, queries, self.window_size, self.sink_size)

    @property
    def max_tokens(self) -> int:
        """Of one call: with more, the last ones would overwrite what the first ones see."""
        return self.window_size + 1

    def _rows(self, input_pos: torch.Tensor, seq_len: int) -> torch.Tensor:
        torch._check(
            seq_len <= self.max_tokens,
            lambda: (
                f"expected at most {self.max_tokens} tokens in a call (the window and one), found {seq_len}"
            ),
        )
        return self.cache_positions_manager.calculate_positions_and_update_indices(
            input_pos, seq_len
        )


class KVCache(nn.Module):
    """Buffers (batch, kv heads, rows, head), written by index_put."""

    is_ring_buffer = False

    def __init__(
        self,
        max_batch_size: int,
        max_context_length: int,
        n_heads: int,
        head_dim: int,
        enable_dynamic_shape: bool,
        dtype: torch.dtype = torch.float32,
    ) -> None:
        super().__init__()
        self.max_batch_size, self.max_context_length = max_batch_size, max_context_length
        self.n_heads, self.head_dim = n_heads, head_dim
        self.enable_dynamic_shape, self.dtype = enable_dynamic_shape, dtype
        shape = (max_batch_size, n_heads, max_context_length, head_dim)
        self.register_buffer("k_cache", torch.zeros(shape, dtype=dtype, device="cpu"))
        self.register_buffer("v_cache", torch.zeros(shape, dtype=dtype, device="cpu"))

    def update(
        self, input_pos: torch.Tensor, k_val: torch.Tensor, v_val: torch.Tensor
    ) -> tuple[torch.Tensor, torch.Tensor]:
        rows = self._rows(input_pos, k_val.shape[2])
        # index_put: other runtimes of such files lack index_copy
        self.k_cache[:, :, rows] = k_val.to(self.k_cache.dtype)
        self.v_cache[:, :, rows] = v_val.to(self.v_cache.dtype)
        return self.k_cache, self.v_cache

    def _rows(self, input_pos: torch.Tensor, seq_len: int) -> torch.Tensor:
        """Of the tokens of a call; rings have their own."""
        return token_positions(input_pos, seq_len)


class RingKVCache(Ring, KVCache):
    def __init__(
        self,
        max_batch_size: int,
        max_context_length: int,
        n_heads: int,
        head_dim: int,
        enable_dynamic_shape: bool,
        dtype: torch.dtype = torch.float32,
    ) -> None:
        """`max_context_length` is the window."""
        super().__init__(
            max_batch_size, 2 * max_context_length, n_heads, head_dim, enable_dynamic_shape, dtype
        )
        self.window_size = max_context_length
        self.cache_positions_manager = CachePositionsManager(2 * max_context_length)


class KVCacheWithAttentionSink(Ring, KVCache):
    def __init__(
        self,
        n_heads: int,
        head_dim: int,
        enable_dynamic_shape: bool,
        rope: Rope,
        window_size: int,
        sink_size: int,
        max_batch_size: int = 1,
        dtype: torch.dtype = torch.float32,
    ) -> None:
        rows = sink_size + 2 * window_size
        super().__init__(max_batch_size, rows, n_heads, head_dim, enable_dynamic_shape, dtype)
        self.rope, self.window_size, self.sink_size = rope, window_size, sink_size
        self.cache_positions_manager = CachePositionsManagerWithSink(rows, sink_size)

    def evict_tokens(self, input_pos: torch.Tensor, seq_len: int) -> int:
        """Nothing moves: rows are reused in place."""
        return 0
