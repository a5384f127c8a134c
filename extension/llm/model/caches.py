# SPDX-License-Identifier: BSD-3-Clause
"""Keys and values of earlier calls, as buffers: one family of caches.

All take (batch, kv heads, tokens, head) and give every row they have, (batch, kv heads, rows, head). A kind is a way of
storing, and perhaps a trait that says which rows the tokens of a call go to:

    KVCache           floats (batch, kv heads, rows, head), written by index_put
    CustomKVCache     floats (batch, rows, kv heads, head), as attention reads them, written by llama::update_cache
    QuantizedKVCache  int8 (batch, rows, kv heads, head) with a scale for each token's head, written in either way

    none              position p in row p
    Ring              the last 2 * window positions, and perhaps the first ones, turn around in the rows
    SessionsKVCache   the rows of several texts one after the other

Two more are in extension/llm/modules: a cache that counts its own positions, and one of 4 bits (turboquant).

Operators `llama::*` are registered by executorch.extension.llm.custom_ops.
"""

from __future__ import annotations

import inspect
from collections.abc import Iterator
from contextlib import ExitStack, contextmanager
from enum import Enum
from typing import Any

import torch
from torch import nn

from executorch.extension.llm.model.masks import ring_mask
from executorch.extension.llm.model.rope import Rope, token_positions


@contextmanager
def state_as_before(model: nn.Module) -> Iterator[None]:
    """What is run inside leaves no keys, values or other state behind, which a program would hold from then on."""
    before = [(buffer, buffer.clone()) for buffer in model.buffers()]
    try:
        yield
    finally:
        for buffer, kept in before:
            buffer.copy_(kept)


@contextmanager
def without_cache(model: nn.Module) -> Iterator[None]:
    """What is run inside is a whole text: it attends to its own tokens, not to all rows of a cache that a long context
    asks for, leaves nothing behind, and gradients may be taken of it."""
    with ExitStack() as after:
        for module in list(model.modules()):
            for name, value in (("use_kv_cache", False), ("kv_cache", None)):
                if before := getattr(module, name, None):
                    setattr(module, name, value)
                    after.callback(setattr, module, name, before)
        yield


# Where the tokens of a call go: the first row, which the others follow, or all of them (tokens,) or (batch, tokens).
Rows = int | torch.Tensor


class CacheUpdateStrategy(Enum):
    RING_BUFFER = "RingBuffer"
    INVALID = "Invalid"


def sink_rows(positions: torch.Tensor, size: int, sink: int) -> torch.Tensor:
    """Rows of `size` that hold positions: the first `sink` stay, those after turn around in the rest."""
    if not sink:
        return positions % size
    return torch.where(positions < sink, positions, sink + (positions - sink) % (size - sink))


def start_of(input_pos: torch.Tensor, rows: int) -> int:
    """The first position as a number, within the cache."""
    start = input_pos[0].item()
    torch._check(start >= 0)
    torch._check(start < rows)
    return start


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


class Cache(nn.Module):
    """What all have in common; a way of storing has `_store`."""

    is_ring_buffer = False
    use_custom_update_cache_op = False

    def __init__(
        self, max_batch_size: int, max_context_length: int, n_heads: int, head_dim: int
    ) -> None:
        super().__init__()
        self.max_batch_size, self.max_context_length = max_batch_size, max_context_length
        self.n_heads, self.head_dim = n_heads, head_dim

    def _hold(self, shape: tuple[int, ...], dtype: torch.dtype) -> None:
        """Keys and values, zeros at first."""
        for name in ("k_cache", "v_cache"):
            self.register_buffer(name, torch.zeros(shape, dtype=dtype, device="cpu"))

    def sizes(self, rows: int | None = None) -> tuple[int, int, int, int]:
        """The first arguments of a cache like this one, of `rows` rows."""
        rows = rows or self.max_context_length
        return self.max_batch_size, rows, self.n_heads, self.head_dim

    def options(self) -> tuple[Any, ...]:
        """The arguments behind sizes()."""
        raise NotImplementedError

    def update(
        self,
        input_pos: torch.Tensor,
        k_val: torch.Tensor,
        v_val: torch.Tensor,
        indices: torch.Tensor | None = None,
    ) -> tuple[torch.Tensor, torch.Tensor]:
        """`indices` (batch, tokens): the rows to write, instead of those from `input_pos` on."""
        rows = self._rows(input_pos, k_val.shape[2]) if indices is None else indices
        by_operator = self.use_custom_update_cache_op  # which has rows of each of a batch
        if isinstance(rows, torch.Tensor) and rows.dim() != 1 + by_operator:
            rows = rows.unsqueeze(0) if by_operator else rows[0]
        return self._store("k", k_val, rows), self._store("v", v_val, rows)

    def _rows(self, input_pos: torch.Tensor, seq_len: int) -> Rows:
        """Of the tokens of a call. Traits have their own."""
        if self.use_custom_update_cache_op:
            return start_of(input_pos, self.max_context_length)
        return token_positions(input_pos, seq_len)

    def _store(self, name: str, value: torch.Tensor, rows: Rows) -> torch.Tensor:
        raise NotImplementedError


def _call(value: torch.Tensor, cache: torch.Tensor, rows: Rows) -> None:
    """Writes by an operator; both are (batch, tokens or rows, kv heads, head)."""
    if isinstance(rows, torch.Tensor):
        torch.ops.llama.update_cache_with_indices(value, cache, 0, rows)
    else:
        torch.ops.llama.update_cache(value, cache, rows)


class KVCache(Cache):
    def __init__(
        self,
        max_batch_size: int,
        max_context_length: int,
        n_heads: int,
        head_dim: int,
        enable_dynamic_shape: bool,
        dtype: torch.dtype = torch.float32,
    ) -> None:
        super().__init__(max_batch_size, max_context_length, n_heads, head_dim)
        self.enable_dynamic_shape, self.dtype = enable_dynamic_shape, dtype
        self._hold((max_batch_size, n_heads, max_context_length, head_dim), dtype)

    def options(self) -> tuple[Any, ...]:
        return self.enable_dynamic_shape, self.dtype

    def _store(self, name: str, value: torch.Tensor, rows: Rows) -> torch.Tensor:
        cache = getattr(self, f"{name}_cache")
        cache[:, :, rows] = value.to(cache.dtype)  # other runtimes of such files lack index_copy
        return cache


class CustomKVCache(Cache):
    use_custom_update_cache_op = True

    def __init__(
        self,
        max_batch_size: int,
        max_context_length: int,
        n_heads: int,
        head_dim: int,
        dtype: torch.dtype = torch.float32,
    ) -> None:
        super().__init__(max_batch_size, max_context_length, n_heads, head_dim)
        self._hold((max_batch_size, max_context_length, n_heads, head_dim), dtype)

    def options(self) -> tuple[Any, ...]:
        return (self.k_cache.dtype,)

    def _store(self, name: str, value: torch.Tensor, rows: Rows) -> torch.Tensor:
        cache = getattr(self, f"{name}_cache")
        _call(value.transpose(1, 2).contiguous(), cache, rows)
        return cache.transpose(1, 2)


class QuantizedCacheType(Enum):
    AffineSymmetric = 0
    AffineAsymmetric = 1
    AffineSymmetricGroupWise = 2
    AffineAsymmetricGroupWise = 3


class QuantizedKVCache(Cache):
    """Every token's head in int8 with a scale and a zero point of its own.

    `return_float_values`: `update` gives floats, the tokens of this call as they came; otherwise the stored bytes.
    """

    def __init__(
        self,
        max_batch_size: int,
        max_context_length: int,
        n_heads: int,
        head_dim: int,
        cache_type: QuantizedCacheType = QuantizedCacheType.AffineSymmetric,
        use_custom_update_cache_op: bool = False,
        return_float_values: bool = True,
    ) -> None:
        super().__init__(max_batch_size, max_context_length, n_heads, head_dim)
        known = (QuantizedCacheType.AffineSymmetric, QuantizedCacheType.AffineAsymmetric)
        if cache_type not in known:
            raise ValueError(f"expected AffineSymmetric or AffineAsymmetric, found {cache_type}")
        self.cache_type, self.return_float_values = cache_type, return_float_values
        self.use_custom_update_cache_op = use_custom_update_cache_op
        rows = (max_batch_size, max_context_length, n_heads)
        for name in ("k_cache", "v_cache"):
            values = torch.zeros(*rows, head_dim, dtype=torch.int8, device="cpu")
            self.register_buffer(name, values)
            for part, dtype in (("scales", torch.float32), ("zero_points", torch.int8)):
                ones = torch.ones(*rows, 1, dtype=dtype, device="cpu")
                self.register_buffer(f"{name}_{part}", ones)

    def options(self) -> tuple[Any, ...]:
        return self.cache_type, self.use_custom_update_cache_op, self.return_float_values

    def _quantized(self, value: torch.Tensor) -> tuple[torch.Tensor, ...]:
        """Bytes, scales and zero points of (batch, tokens, heads, head)."""
        ops = torch.ops.quantized_decomposed
        value = value.float().contiguous()
        if self.cache_type is QuantizedCacheType.AffineAsymmetric:
            scales, points = ops.choose_qparams_per_token_asymmetric.default(value, torch.int8)
        else:
            scales = value.abs().amax(-1, keepdim=True).clamp(min=1e-6) / 127
            points = torch.zeros_like(scales, dtype=torch.int64)
        stored = ops.quantize_per_token.default(value, scales, points, -128, 127, torch.int8)
        return stored, scales.float(), points.to(torch.int8)

    def _store(self, name: str, value: torch.Tensor, rows: Rows) -> torch.Tensor:
        value = value.transpose(1, 2)
        caches = [getattr(self, f"{name}_cache{part}") for part in ("", "_scales", "_zero_points")]
        for part, cache in zip(self._quantized(value), caches):
            if self.use_custom_update_cache_op:
                _call(part, cache, rows)
            else:
                cache[:, rows] = part
        if not self.return_float_values:
            return caches[0].transpose(1, 2)
        stored, scales, points = caches
        floats = (stored.float() - points.float()) * scales
        places = rows if isinstance(rows, torch.Tensor) else rows + torch.arange(value.shape[1])
        floats[:, places[0] if places.dim() == 2 else places] = value.float()
        return floats.to(value.dtype).transpose(1, 2)

    @classmethod
    def from_float(
        cls,
        kv_cache: KVCache | CustomKVCache,
        cache_type: QuantizedCacheType,
        use_custom_update_cache_op: bool = False,
    ) -> QuantizedKVCache:
        return cls(*kv_cache.sizes(), cache_type, use_custom_update_cache_op)


class SessionsKVCache(CustomKVCache):
    """The caches of `sessions` texts one after the other, of `max_context_length` rows each; `input_pos` (tokens,) are
    the rows themselves."""

    def __init__(self, sessions: int, cache: CustomKVCache) -> None:
        rows = sessions * cache.max_context_length
        super().__init__(1, rows, cache.n_heads, cache.head_dim, cache.k_cache.dtype)

    def _rows(self, input_pos: torch.Tensor, seq_len: int) -> torch.Tensor:
        return input_pos


class Ring:
    """The trait of rings: `window_size` positions are visible, `sink_size` first ones besides."""

    is_ring_buffer = True

    def __init_subclass__(cls) -> None:
        """A ring is called as its way of storing."""
        if "__init__" not in vars(cls):
            cls.__signature__ = inspect.signature(cls.__bases__[1])

    def __init__(
        self,
        max_batch_size: int,
        max_context_length: int,
        *sizes: Any,
        sink_size: int = 0,
        **options: Any,
    ) -> None:
        """`max_context_length` is the window; the rest as the way of storing has it."""
        rows = sink_size + 2 * max_context_length
        super().__init__(max_batch_size, rows, *sizes, **options)
        self.window_size, self.sink_size = max_context_length, sink_size
        self.cache_positions_manager = CachePositionsManager(rows, sink_size=sink_size)

    def create_causal_mask_for_ring_buffer(
        self, start_pos: torch.Tensor | int, seq_len: int
    ) -> torch.Tensor:
        """The mask (tokens, rows), for what the cache holds after `update`."""
        held = self.cache_positions_manager.cache_positions
        return ring_mask(held, self.window_size, start_pos, seq_len, self.sink_size)

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


class RingKVCache(Ring, KVCache):
    """Arguments are those of KVCache, with the window as `max_context_length`; likewise below."""


class CustomRingKVCache(Ring, CustomKVCache):
    @classmethod
    def from_custom_kv_cache(cls, kv_cache: CustomKVCache, sliding_window_size: int) -> Ring:
        return ring_of(kv_cache, sliding_window_size)


class QuantizedRingKVCache(Ring, QuantizedKVCache):
    @classmethod
    def from_quantized_kv_cache(cls, kv_cache: QuantizedKVCache, sliding_window_size: int) -> Ring:
        return ring_of(kv_cache, sliding_window_size)


RINGS = {
    KVCache: RingKVCache,
    CustomKVCache: CustomRingKVCache,
    QuantizedKVCache: QuantizedRingKVCache,
}


def ring_of(cache: Cache, window: int) -> Ring:
    """An empty ring that stores as `cache` does."""
    ring = next(ring for stored, ring in RINGS.items() if isinstance(cache, stored))
    return ring(*cache.sizes(window), *cache.options())


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
        sizes = (max_batch_size, window_size, n_heads, head_dim)
        super().__init__(*sizes, enable_dynamic_shape, dtype, sink_size=sink_size)
        self.rope = rope

    def evict_tokens(self, input_pos: torch.Tensor, seq_len: int) -> int:
        """Nothing moves: rows are reused in place."""
        return 0


class CustomKVCacheWithAttentionSink(Ring, CustomKVCache):
    def __init__(
        self,
        max_batch_size: int,
        n_heads: int,
        head_dim: int,
        window_size: int,
        sink_size: int,
        dtype: torch.dtype = torch.float32,
    ) -> None:
        sizes = (max_batch_size, window_size, n_heads, head_dim)
        super().__init__(*sizes, dtype, sink_size=sink_size)

    @classmethod
    def from_kv_cache_with_attention_sink(cls, kv_cache: KVCacheWithAttentionSink) -> Any:
        sizes = (kv_cache.max_batch_size, kv_cache.n_heads, kv_cache.head_dim)
        return cls(*sizes, kv_cache.window_size, kv_cache.sink_size, kv_cache.k_cache.dtype)
