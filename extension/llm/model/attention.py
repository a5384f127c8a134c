# SPDX-License-Identifier: BSD-3-Clause
"""Attention over grouped queries, and the registry of what a layer may have in its place."""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Callable
from typing import Any, TypedDict

import torch
from torch import nn

from executorch.extension.llm.model.args import ModelArgs
from executorch.extension.llm.model.attend import attend, attention_weights
from executorch.extension.llm.model.caches import KVCache
from executorch.extension.llm.model.lora import LoRALinear
from executorch.extension.llm.model.masks import causal_mask
from executorch.extension.llm.model.norms import RMSNorm, ScalelessRMSNorm
from executorch.extension.llm.model.rope import Rope, token_positions


class ForwardOptions(TypedDict, total=False):
    """What a call says besides its tokens."""

    mask: torch.Tensor | None
    masks: dict[int, torch.Tensor]
    input_pos: torch.Tensor | None
    freqs_cos_override: torch.Tensor | None
    freqs_sin_override: torch.Tensor | None
    in_cache_state: Any
    out_cache_state: Any
    last_valid_token_pos: torch.Tensor | None
    logits_of: torch.Tensor | None
    shared_kv: dict[str, tuple[torch.Tensor, torch.Tensor]]
    shared_masks: dict[int | None, torch.Tensor]


class Attention(nn.Module, ABC):
    """Base of what stands in a layer's place for mixing tokens."""

    @abstractmethod
    def forward(
        self,
        x: torch.Tensor,
        freqs_cos: torch.Tensor,
        freqs_sin: torch.Tensor,
        **kwargs: Any,
    ) -> tuple[torch.Tensor, Any | None]:
        """x (batch, tokens, dim) to the same shape, and what the layer wants to hand on."""


ATTENTION_REGISTRY: dict[str, type[Attention]] = {}


def register_attention(name: str) -> Callable[[type[Attention]], type[Attention]]:
    """A decorator: `attention_type: name` makes layers of the class."""

    def register(cls: type[Attention]) -> type[Attention]:
        ATTENTION_REGISTRY[name.lower()] = cls
        return cls

    return register


class SDPA(nn.Module):
    """softmax(q k^T * scale + mask) v; keys and values stay as they are, the queries of a group go together."""

    def __init__(
        self,
        dim: int,
        head_dim: int,
        n_rep: int,
        max_context_len: int,
        scale: float | None = None,
        softcap: float | None = None,
    ) -> None:
        super().__init__()
        self.dim, self.head_dim, self.n_rep = dim, head_dim, n_rep
        self.max_context_len, self.scale, self.softcap = max_context_len, scale, softcap

    def forward(
        self,
        input_pos: torch.Tensor | None,
        q: torch.Tensor,
        k: torch.Tensor,
        v: torch.Tensor,
        bsz: int,
        seqlen: int,
        mask: torch.Tensor,
    ) -> torch.Tensor:
        """q (batch, heads, tokens, head), k and v (batch, kv heads, keys, head), mask (tokens, keys) is added.

        Gives (batch, tokens, heads * head).
        """
        scale = self.head_dim**-0.5 if self.scale is None else self.scale
        if input_pos is None:  # as many keys as tokens: groups would tie the two numbers
            k, v = (x.repeat_interleave(self.n_rep, 1) for x in (k, v))
            out = attend(q * scale, k, v, mask, softcap=self.softcap)
            return out.transpose(1, 2).reshape(bsz, seqlen, self.dim)
        batches, keys = k.shape[0] * k.shape[1], k.shape[2]
        # contiguous, and products of three dimensions: nothing here depends on the number of tokens
        q = (q * scale).clone(memory_format=torch.contiguous_format)
        q = q.view(batches, self.n_rep * seqlen, self.head_dim)
        k, v = (x.to(q.dtype).reshape(batches, keys, self.head_dim) for x in (k, v))
        scores = torch.bmm(q, k.transpose(1, 2)).view(batches, self.n_rep, seqlen, keys)
        weights = attention_weights(scores, mask, self.softcap).to(q.dtype)
        out = torch.bmm(weights.view(batches, self.n_rep * seqlen, keys), v)
        out = out.view(batches, self.n_rep, seqlen, self.head_dim)
        out = out.view(bsz, self.dim // self.head_dim, seqlen, self.head_dim)
        return out.transpose(1, 2).reshape(bsz, seqlen, self.dim)


# adapters name projections so (target_modules); the second column is our layer's name
ATTENTION_TARGETS = {
    "q_proj": "wq",
    "k_proj": "wk",
    "v_proj": "wv",
    "o_proj": "wo",
    "output_proj": "wo",
}


@register_attention("mha")
class AttentionMHA(Attention):
    """wq, wk, wv, wo; with `use_kv_cache` keys and values of earlier calls take part."""

    def __init__(self, args: ModelArgs, layer_id: int, rope: Rope, **_kwargs: Any) -> None:
        super().__init__()
        self.args, self.layer_id, self.rope = args, layer_id, rope
        self.n_heads, self.n_kv_heads, self.head_dim = args.n_heads, args.n_kv_heads, args.head_dim
        self.n_rep, self.dim = args.n_heads // args.n_kv_heads, args.dim
        self.use_kv_cache = args.use_kv_cache
        self.max_context_len, self.max_batch_size = args.max_context_len, args.max_batch_size
        self.layer_type = args.layer_type(layer_id)
        self.window, self.use_rope = args.window(layer_id), args.has_rope(layer_id)
        self.use_q_gate = args.use_q_gate
        first_shared = args.n_layers - args.num_kv_shared_layers
        self.is_kv_shared_layer = bool(args.num_kv_shared_layers) and layer_id >= first_shared

        bias = args.attention_qkv_bias
        query, kv = self.n_heads * self.head_dim, self.n_kv_heads * self.head_dim
        self.wq = self._linear(
            args, "q_proj", args.dim, query * (2 if args.use_q_gate else 1), bias
        )
        if not self.is_kv_shared_layer:
            self.wk = self._linear(args, "k_proj", args.dim, kv, bias)
            self.wv = self._linear(args, "v_proj", args.dim, kv, bias)
        self.wo = self._linear(args, "o_proj", query, args.dim, False)

        self.use_qk_norm, self.qk_norm_before_rope = args.use_qk_norm, args.qk_norm_before_rope
        self.scale_query_by = args.scale_query_by
        if args.use_qk_norm:
            self.q_norm_fn = self._norm(args)
            if not self.is_kv_shared_layer:
                self.k_norm_fn = self._norm(args)
        self.kv_cache = None
        if self.use_kv_cache and not self.is_kv_shared_layer:
            self.kv_cache = KVCache(
                args.max_batch_size,
                args.max_context_len,
                self.n_kv_heads,
                self.head_dim,
                args.enable_dynamic_shape,
            )
        self.SDPA = SDPA(
            query,
            self.head_dim,
            self.n_rep,
            self.max_context_len,
            scale=args.attention_multiplier,
            softcap=args.attn_logit_softcapping,
        )

    @staticmethod
    def _linear(args: ModelArgs, target: str, width: int, out: int, bias: bool) -> nn.Module:
        targets = set(args.target_modules or ())
        names = {"o_proj", "output_proj"} if target == "o_proj" else {target}
        if not targets & names:
            return nn.Linear(width, out, bias=bias)
        if args.r is None or args.lora_alpha is None:
            raise ValueError("LoRA needs r (the rank) and lora_alpha")
        return LoRALinear(width, out, args.r, args.lora_alpha, use_bias=bias)

    @staticmethod
    def _norm(args: ModelArgs) -> nn.Module:
        if not args.qk_norm_affine:
            return ScalelessRMSNorm(args.head_dim, args.norm_eps)
        offset = args.norm_type == "gemma3" or args.rms_norm_add_unit_offset
        return RMSNorm(args.head_dim, args.norm_eps, offset)

    def forward(
        self,
        x: torch.Tensor,
        freqs_cos: torch.Tensor,
        freqs_sin: torch.Tensor,
        **kwargs: Any,
    ) -> tuple[torch.Tensor, Any | None]:
        input_pos = kwargs.get("input_pos")
        bsz, seqlen, _ = x.shape
        gate = None
        q = self.wq(x)
        if self.use_q_gate:
            q, gate = q.view(bsz, seqlen, self.n_heads, 2 * self.head_dim).chunk(2, -1)
            gate = gate.reshape(bsz, seqlen, self.n_heads * self.head_dim)
        else:
            q = q.view(bsz, seqlen, self.n_heads, self.head_dim)
        k = v = None
        if not self.is_kv_shared_layer:
            k = self.wk(x).view(bsz, seqlen, self.n_kv_heads, self.head_dim)
            v = self.wv(x).view(bsz, seqlen, self.n_kv_heads, self.head_dim)
        q, k = self._positioned(q, k, freqs_cos, freqs_sin)
        q = q.transpose(1, 2)
        keys, values = self._keys_and_values(k, v, input_pos, kwargs)
        mask = self._mask(input_pos, seqlen, kwargs)
        out = self.SDPA(input_pos, q, keys, values, bsz, seqlen, mask)
        if gate is not None:
            out = out * torch.sigmoid(gate)
        return self.wo(out), None

    def _positioned(
        self,
        q: torch.Tensor,
        k: torch.Tensor | None,
        cos: torch.Tensor,
        sin: torch.Tensor,
    ) -> tuple[torch.Tensor, torch.Tensor | None]:
        """Norms of queries and keys, and their turning; layers without keys of their own turn queries only."""

        def normed(q: torch.Tensor, k: torch.Tensor | None) -> tuple[Any, Any]:
            return self.q_norm_fn(q), None if k is None else self.k_norm_fn(k)

        if self.use_qk_norm and self.qk_norm_before_rope:
            q, k = normed(q, k)
        if self.use_rope:
            q, turned = self.rope(q, q if k is None else k, cos, sin)
            k = None if k is None else turned
        if self.use_qk_norm and not self.qk_norm_before_rope:
            q, k = normed(q, k)
        if self.scale_query_by != 1.0:
            q = q * self.scale_query_by
        return q, k

    def _keys_and_values(
        self,
        k: torch.Tensor | None,
        v: torch.Tensor | None,
        input_pos: torch.Tensor | None,
        options: dict[str, Any],
    ) -> tuple[torch.Tensor, torch.Tensor]:
        shared = options.get("shared_kv")
        if self.is_kv_shared_layer:
            if not shared or self.layer_type not in shared:
                raise ValueError(
                    f"layer {self.layer_id} shares keys and values, and no layer of type "
                    f"{self.layer_type} before it has any"
                )
            return shared[self.layer_type]
        k, v = k.transpose(1, 2), v.transpose(1, 2)
        if self.kv_cache is not None:
            k, v = self.kv_cache.update(input_pos, k, v)
        if shared is not None:
            shared[self.layer_type] = (k, v)
        return k, v

    def _mask(
        self, input_pos: torch.Tensor | None, seqlen: int, options: dict[str, Any]
    ) -> torch.Tensor:
        """Rings make their own; other layers of one window take the same."""
        if options.get("mask") is not None:
            return options["mask"]
        cache = self.kv_cache
        if cache is not None and cache.is_ring_buffer:
            return cache.create_causal_mask_for_ring_buffer(input_pos[0], seqlen)
        shared = options.get("shared_masks", {})
        if self.window not in shared:
            if self.use_kv_cache:
                queries, keys = token_positions(input_pos, seqlen), self.max_context_len
            else:
                queries, keys = torch.arange(seqlen), seqlen
            shared[self.window] = causal_mask(queries, keys, self.window)
        return shared[self.window]


@register_attention("skip")
class AttentionSkip(Attention):
    """Hands its input on."""

    def __init__(self, *args: Any, **kwargs: Any) -> None:
        super().__init__()

    def forward(
        self,
        x: torch.Tensor,
        freqs_cos: torch.Tensor,
        freqs_sin: torch.Tensor,
        **kwargs: Any,
    ) -> tuple[torch.Tensor, Any | None]:
        return x, None
