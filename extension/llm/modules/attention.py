# SPDX-License-Identifier: BSD-3-Clause
"""torchtune's attention over grouped queries, in a form that exports with its cache."""

from __future__ import annotations

from typing import Any

import torch
from torch import nn
from torch.nn import functional

from executorch.extension.llm.modules.kv_cache import KVCache
from executorch.extension.llm.modules.replace import replace_torchtune


class MultiHeadAttention(nn.Module):
    """Attention of x (batch, tokens, embed_dim) to y (batch, other tokens, embed_dim), which may be x itself.

    With a cache: in self-attention tokens join those of earlier calls; in cross-attention keys and values of y are
    kept, and a y of nothing but NaN stands for the one before. `mask` is a bool (batch, tokens, keys), true where a
    token may look. Without one attention is causal if `is_causal`, unless there is a cache: then all rows are seen.
    """

    def __init__(
        self,
        *,
        embed_dim: int,
        num_heads: int,
        num_kv_heads: int,
        head_dim: int,
        q_proj: nn.Module,
        k_proj: nn.Module,
        v_proj: nn.Module,
        output_proj: nn.Module,
        pos_embeddings: nn.Module | None = None,
        q_norm: nn.Module | None = None,
        k_norm: nn.Module | None = None,
        kv_cache: KVCache | None = None,
        max_seq_len: int = 4096,
        is_causal: bool = True,
        attn_dropout: float = 0.0,
    ) -> None:
        super().__init__()
        for name, given, divisor in (
            ("num_kv_heads that divide num_heads", num_heads, num_kv_heads),
            ("num_heads that divide embed_dim", embed_dim, num_heads),
        ):
            if given % divisor:
                raise ValueError(
                    f"MultiHeadAttention: expected {name}, found {divisor} and {given}"
                )
        if not 0 <= attn_dropout < 1:
            raise ValueError(
                f"MultiHeadAttention: expected attn_dropout in [0, 1), found {attn_dropout}"
            )
        if bool(q_norm) != bool(k_norm):
            raise ValueError(
                "MultiHeadAttention: expected q_norm and k_norm, or neither, found one"
            )
        self.embed_dim, self.head_dim = embed_dim, head_dim
        self.num_heads, self.num_kv_heads = num_heads, num_kv_heads
        self.max_seq_len, self.is_causal, self.attn_dropout = max_seq_len, is_causal, attn_dropout
        self.q_proj, self.k_proj, self.v_proj = q_proj, k_proj, v_proj
        self.output_proj, self.pos_embeddings = output_proj, pos_embeddings
        self.q_norm, self.k_norm = q_norm, k_norm
        self.kv_cache, self.cache_enabled = kv_cache, kv_cache is not None

    def setup_cache(self, batch_size: int, dtype: torch.dtype, max_seq_len: int) -> None:
        """An empty cache; one that is there stays."""
        if self.kv_cache is None:
            sizes = (batch_size, max_seq_len, self.num_kv_heads, self.head_dim)
            self.kv_cache = KVCache(*sizes, dtype, transpose_cache=False)
            self.cache_enabled = True

    def reset_cache(self) -> None:
        if self.kv_cache is None:
            raise RuntimeError("reset_cache: expected a cache, found none; call setup_cache first")
        self.kv_cache.reset()

    def forward(
        self,
        x: torch.Tensor,
        y: torch.Tensor | None = None,
        *,
        mask: torch.Tensor | None = None,
        input_pos: torch.Tensor | None = None,
    ) -> torch.Tensor:
        batch, tokens, _ = x.shape
        q = self.q_proj(x).view(batch, tokens, self.num_heads, self.head_dim)
        if self.pos_embeddings is not None:
            q = self.pos_embeddings(q, input_pos=input_pos)
        q = q.transpose(1, 2)
        if self.q_norm is not None:
            q = self.q_norm(q)
        k, v = self._keys_and_values(x, y, input_pos)
        seen = None if mask is None else mask[:, None]
        out = functional.scaled_dot_product_attention(
            *(q, k.transpose(1, 2), v.transpose(1, 2)),
            attn_mask=seen,
            dropout_p=self.attn_dropout if self.training else 0.0,
            is_causal=self.kv_cache is None and mask is None and self.is_causal,
            enable_gqa=self.num_heads != self.num_kv_heads,
        )
        return self.output_proj(out.transpose(1, 2).reshape(batch, tokens, -1))

    def _keys_and_values(
        self, x: torch.Tensor, y: torch.Tensor | None, input_pos: torch.Tensor | None
    ) -> tuple[torch.Tensor, torch.Tensor]:
        """(batch, keys, kv heads, head)."""
        cache = self.kv_cache if self.cache_enabled else None
        if y is None:
            if cache is None:
                raise ValueError(
                    "MultiHeadAttention: expected y (x itself for self-attention) or a cache, found neither"
                )
            return self._rows(cache.k_cache), self._rows(cache.v_cache)
        if cache is None:
            return self._project(y, input_pos)
        if y is x:
            new = [self._rows(each) for each in self._project(y, input_pos)]
            k, v = cache.update(*new)
            return self._rows(k), self._rows(v)
        return self._of_other_tokens(cache, y, input_pos)

    def _rows(self, x: torch.Tensor) -> torch.Tensor:
        """From the cache's order to (batch, keys, kv heads, head), and back."""
        return x.transpose(1, 2) if self.kv_cache.transpose_cache else x

    def _project(
        self, y: torch.Tensor, input_pos: torch.Tensor | None
    ) -> tuple[torch.Tensor, torch.Tensor]:
        sizes = (*y.shape[:2], self.num_kv_heads, self.head_dim)
        k, v = self.k_proj(y).view(sizes), self.v_proj(y).view(sizes)
        if self.pos_embeddings is not None:
            k = self.pos_embeddings(k, input_pos=input_pos)
        if self.k_norm is not None:
            k = self.k_norm(k.transpose(1, 2)).transpose(1, 2)
        return k, v

    def _of_other_tokens(
        self, cache: KVCache, y: torch.Tensor, input_pos: torch.Tensor | None
    ) -> tuple[torch.Tensor, torch.Tensor]:
        """Keys and values of y, all rows of the cache; of a y of NaN the cached ones, without projecting it."""

        def kept(y: torch.Tensor, k: torch.Tensor, v: torch.Tensor) -> tuple[torch.Tensor, ...]:
            return k.clone(), v.clone()

        def written(y: torch.Tensor, k: torch.Tensor, v: torch.Tensor) -> tuple[torch.Tensor, ...]:
            new = [self._rows(each) for each in self._project(y, input_pos)]
            dim = 2 if cache.transpose_cache else 1
            return tuple(
                torch.slice_scatter(old, each.to(old.dtype), dim, 0, each.shape[dim])
                for old, each in zip((k, v), new)
            )

        held = (cache.k_cache.clone(), cache.v_cache.clone())
        nothing = y.isnan().all()
        if torch.compiler.is_compiling():
            k, v = torch.cond(nothing, kept, written, (y, *held))
        else:
            k, v = (kept if nothing else written)(y, *held)
        cache.k_cache.copy_(k)
        cache.v_cache.copy_(v)
        return self._rows(cache.k_cache), self._rows(cache.v_cache)


def replace_mha_with_inference_mha(module: nn.Module) -> nn.Module:
    """torchtune's MultiHeadAttention by ours, which takes its parts over; a cache becomes one of ours, empty."""

    def make(theirs: Any) -> nn.Module:
        names = ("embed_dim", "num_heads", "num_kv_heads", "head_dim", "max_seq_len", "is_causal")
        names += ("attn_dropout", "q_proj", "k_proj", "v_proj", "output_proj", "pos_embeddings")
        ours = MultiHeadAttention(
            **{name: getattr(theirs, name) for name in names},
            q_norm=theirs.q_norm,
            k_norm=theirs.k_norm,
        )
        cache = theirs.kv_cache
        if cache is not None:
            batch, _, rows, _ = cache.k_cache.shape
            ours.setup_cache(batch, cache.k_cache.dtype, rows)
        return ours

    return replace_torchtune(module, "MultiHeadAttention", make)
