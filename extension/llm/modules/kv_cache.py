# SPDX-License-Identifier: BSD-3-Clause
"""A cache that counts its own positions, as torchtune's models want it."""

from __future__ import annotations

import torch

from executorch.extension.llm.model import caches
from executorch.extension.llm.model.caches import Rows


class KVCache(caches.KVCache):
    """Rows follow those of the calls before. Keys and values, and the caches themselves, are (batch, kv heads, tokens,
    head), with `transpose_cache=False` (batch, tokens, kv heads, head)."""

    def __init__(
        self,
        batch_size: int,
        max_seq_len: int,
        num_kv_heads: int,
        head_dim: int,
        dtype: torch.dtype,
        transpose_cache: bool = True,
    ) -> None:
        super().__init__(batch_size, max_seq_len, num_kv_heads, head_dim, True, dtype)
        self.batch_size, self.max_seq_len = batch_size, max_seq_len
        self.transpose_cache = transpose_cache
        if not transpose_cache:
            self._hold((batch_size, max_seq_len, num_kv_heads, head_dim), dtype)
        self.register_buffer("kv_cache_pos", torch.arange(max_seq_len), persistent=False)

    @property
    def cache_pos(self) -> torch.Tensor:
        """Positions of the tokens to come; the first is how many tokens there are."""
        return self.kv_cache_pos

    @property
    def size(self) -> int:
        return int(self.kv_cache_pos[0])

    def reset(self) -> None:
        """Forgets all tokens."""
        self.k_cache.zero_()
        self.v_cache.zero_()
        self.kv_cache_pos.copy_(torch.arange(self.max_seq_len))

    def update(  # type: ignore[override]
        self, k_val: torch.Tensor, v_val: torch.Tensor
    ) -> tuple[torch.Tensor, torch.Tensor]:
        """Adds tokens and gives all rows of keys and values."""
        batch, tokens = k_val.shape[0], k_val.shape[2 if self.transpose_cache else 1]
        if batch != self.batch_size:
            raise ValueError(f"KVCache: expected a batch of {self.batch_size}, found {batch}")
        torch._check(
            tokens <= self.max_seq_len,
            lambda: (
                f"KVCache: expected at most {self.max_seq_len} tokens in a call, found {tokens}"
            ),
        )
        if not torch.compiler.is_compiling() and self.size + tokens > self.max_seq_len:
            raise ValueError(
                f"KVCache: expected at most {self.max_seq_len} tokens in all, found {tokens} behind {self.size}; "
                "reset() begins anew"
            )
        rows = self.kv_cache_pos[:tokens]
        found = self._store("k", k_val, rows), self._store("v", v_val, rows)
        self.kv_cache_pos.add_(tokens)
        return found

    def _store(self, name: str, value: torch.Tensor, rows: Rows) -> torch.Tensor:
        if self.transpose_cache:
            return super()._store(name, value, rows)
        cache = getattr(self, f"{name}_cache")
        cache[:, rows] = value.to(cache.dtype)
        return cache

    def clone(self) -> KVCache:
        """Another of the same sizes, empty unless this one holds tokens."""
        sizes = (self.batch_size, self.max_seq_len, self.n_heads, self.head_dim)
        copy = KVCache(*sizes, self.k_cache.dtype, self.transpose_cache)
        for name, buffer in self.named_buffers():
            getattr(copy, name).copy_(buffer)
        return copy
