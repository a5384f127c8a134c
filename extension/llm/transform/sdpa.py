# SPDX-License-Identifier: BSD-3-Clause
"""Attention by operators `llama::*`, and the sinks that let a text outgrow its cache."""

from __future__ import annotations

import torch
import torch.ao.quantization.fx._decomposed
from torch import nn

from executorch.extension.llm.custom_ops import custom_ops  # noqa: F401
from executorch.extension.llm.model.args import ModelArgs
from executorch.extension.llm.model.attend import attend
from executorch.extension.llm.model.attention import SDPA, AttentionMHA
from executorch.extension.llm.model.caches import (
    KVCacheWithAttentionSink,
    QuantizedKVCache,
    sink_rows,
    start_of,
)
from executorch.extension.llm.model.mixers import AttentionGatedDeltaNet
from executorch.extension.llm.model.norms import RMSNorm
from executorch.extension.llm.model.rope import Rope
from executorch.extension.llm.quantization.weights import replace_layers


class SDPASimple(nn.Module):
    """Attention of a few plain operators, for backends that match them: keys and values are repeated for each head.

    `mask` (tokens, keys) is added.
    """

    def __init__(self, dim: int, head_dim: int, n_rep: int) -> None:
        super().__init__()
        self.dim, self.head_dim, self.n_rep = dim, head_dim, n_rep

    def forward(
        self,
        input_pos: torch.Tensor,
        q: torch.Tensor,
        k: torch.Tensor,
        v: torch.Tensor,
        bsz: int,
        seqlen: int,
        mask: torch.Tensor,
    ) -> torch.Tensor:
        k, v = (x.repeat_interleave(self.n_rep, 1) for x in (k, v))
        out = attend(q, k, v, mask, self.head_dim**-0.5)
        return out.transpose(1, 2).reshape(bsz, seqlen, self.dim)


class SDPACustom(nn.Module):
    """llama::custom_sdpa over the cache; with `use_attention_mask` by a mask, else causal from the position."""

    def __init__(
        self, dim: int, use_attention_mask: bool = False, scale: float | None = None
    ) -> None:
        super().__init__()
        self.dim, self.use_attention_mask, self.scale = dim, use_attention_mask, scale

    def forward(
        self,
        input_pos: torch.Tensor,
        q: torch.Tensor,
        k: torch.Tensor,
        v: torch.Tensor,
        bsz: int,
        seqlen: int,
        mask: torch.Tensor,
    ) -> torch.Tensor:
        # a cache of fewer bits than the model's is read as it is
        rows = [q.float(), *(x.float() if x.dtype == q.dtype else x for x in (k, v))]
        rows = [x.transpose(1, 2) for x in rows]
        out = self._attend(input_pos, rows, mask)
        return out.view(bsz, seqlen, self.dim).to(q.dtype)

    def _attend(
        self, input_pos: torch.Tensor, rows: list[torch.Tensor], mask: torch.Tensor
    ) -> torch.Tensor:
        """`rows`: queries, keys and values (batch, rows, heads, head), in float."""
        if self.use_attention_mask:
            return torch.ops.llama.custom_sdpa(*rows, 0, mask.float(), 0.0, False, self.scale)
        start = start_of(input_pos, rows[1].shape[1])
        return torch.ops.llama.custom_sdpa(*rows, start, None, 0.0, True, self.scale)


class QuantizedSDPA(SDPACustom):
    """llama::custom_quantized_sdpa over a cache of 8 bits; queries are quantized token by token."""

    def __init__(
        self,
        dim: int,
        kv_cache: QuantizedKVCache,
        use_attention_mask: bool = False,
        scale: float | None = None,
    ) -> None:
        super().__init__(dim, use_attention_mask, scale)
        # in a tuple, for it is no module of this one: its buffers are the attention layer's, and would be there twice
        self._cache = (kv_cache,)

    @property
    def kv_cache(self) -> QuantizedKVCache:
        return self._cache[0]

    def read_from(self, cache: QuantizedKVCache) -> None:
        self._cache = (cache,)

    def forward(
        self,
        input_pos: torch.Tensor,
        q: torch.Tensor,
        k_quantized: torch.Tensor,
        v_quantized: torch.Tensor,
        bsz: int,
        seqlen: int,
        mask: torch.Tensor,
    ) -> torch.Tensor:
        """Keys and values are the cache's bytes."""
        return super().forward(input_pos, q, k_quantized, v_quantized, bsz, seqlen, mask)

    def _attend(
        self, input_pos: torch.Tensor, rows: list[torch.Tensor], mask: torch.Tensor
    ) -> torch.Tensor:
        ops, cache, (q, k, v) = torch.ops.quantized_decomposed, self.kv_cache, rows
        q = q.contiguous()
        scales, points = ops.choose_qparams_per_token_asymmetric.default(q, torch.int8)
        q = ops.quantize_per_token.default(q, scales, points, -128, 127, torch.int8)
        masked = self.use_attention_mask
        start, mask = (0, mask.float()) if masked else (start_of(input_pos, k.shape[1]), None)
        return torch.ops.llama.custom_quantized_sdpa(
            *(q, k, v, start, mask, 0.0, not masked, self.scale),
            *(points.to(torch.int8), scales.float()),
            *(cache.k_cache_zero_points, cache.k_cache_scales),
            *(cache.v_cache_zero_points, cache.v_cache_scales),
        )


def _layers(module: nn.Module) -> list[AttentionMHA]:
    return [m for m in module.modules() if isinstance(m, AttentionMHA)]


def _needs_mask(layer: AttentionMHA) -> bool:
    """Windows and rings are more than causal."""
    return layer.window is not None or getattr(layer.kv_cache, "is_ring_buffer", False)


def replace_sdpa_with_custom_op(module: nn.Module, use_attention_mask: bool = False) -> nn.Module:
    """Raises ValueError for models with a soft cap in attention, which the operator has not."""
    for layer in _layers(module):
        plain = layer.SDPA
        if isinstance(plain, SDPA):
            if plain.softcap is not None:
                raise ValueError(
                    "model.use_sdpa_with_kv_cache: llama::custom_sdpa has no soft cap (attn_logit_softcapping); "
                    "leave the option out for this model"
                )
            masked = use_attention_mask or _needs_mask(layer)
            layer.SDPA = SDPACustom(plain.dim, masked, plain.scale)
    return module


def replace_delta_rule_with_custom_op(module: nn.Module) -> nn.Module:
    """Linear attention takes any number of tokens in one call; its loop in Python is unrolled at export."""
    for layer in module.modules():
        if isinstance(layer, AttentionGatedDeltaNet):
            layer.rule = torch.ops.llama.channelwise_gated_delta_rule
    return module


def replace_sdpa_with_quantized_sdpa(module: nn.Module) -> nn.Module:
    """Layers with a quantized cache read its bytes."""
    for layer in _layers(module):
        if isinstance(layer.kv_cache, QuantizedKVCache):
            layer.kv_cache.return_float_values = False
            plain = layer.SDPA
            masked = getattr(plain, "use_attention_mask", False)
            layer.SDPA = QuantizedSDPA(plain.dim, layer.kv_cache, masked, plain.scale)
    return module


def replace_sdpa_with_simple_sdpa(module: nn.Module) -> nn.Module:
    """Plain attention by SDPASimple; models whose scores are scaled or capped otherwise keep theirs."""
    for layer in _layers(module):
        plain = layer.SDPA
        if isinstance(plain, SDPA) and plain.scale is None and plain.softcap is None:
            layer.SDPA = SDPASimple(plain.dim, plain.head_dim, plain.n_rep)
    return module


def replace_rms_norm_with_native_rms_norm(module: nn.Module) -> nn.Module:
    """Norms by torch's, which is one operator: for backends that have it."""

    def make(norm: RMSNorm, _name: str) -> nn.RMSNorm:
        native = nn.RMSNorm(norm.dim, norm.eps)
        weight = norm.weight.detach()
        native.weight = nn.Parameter(weight + 1.0 if norm.add_unit_offset else weight)
        return native.train(norm.training)

    return replace_layers(module, lambda layer: isinstance(layer, RMSNorm), make)


class RopeWithAttentionSink(Rope):
    """Positions in the cache, not in the text: those of sinks stay, later ones turn around."""

    def __init__(self, params: ModelArgs, window_size: int, sink_size: int) -> None:
        super().__init__(params)
        self.window_size, self.sink_size = window_size, sink_size
        self.max_context_length = sink_size + 2 * window_size

    def rows(self, positions: torch.Tensor) -> torch.Tensor:
        return sink_rows(positions, self.max_context_length, self.sink_size)


def enable_attention_sink(
    module: nn.Module, params: ModelArgs, sink_size: int, window_size: int
) -> nn.Module:
    """The first `sink_size` tokens and the last `window_size` are seen, however long the text."""
    rows = sink_size + 2 * window_size
    if params.max_context_len < sink_size + window_size:
        raise ValueError(
            f"model.use_attention_sink: expected export.max_context_length of at least {sink_size + window_size} "
            f"(sink and window), found {params.max_context_len}"
        )
    tables = params if params.max_context_len >= rows else _with_context(params, rows)
    rope = RopeWithAttentionSink(tables, window_size, sink_size)
    module.rope = rope
    for layer in _layers(module):
        layer.rope = rope
        cache = layer.kv_cache
        layer.kv_cache = KVCacheWithAttentionSink(
            cache.n_heads,
            cache.head_dim,
            cache.enable_dynamic_shape,
            rope,
            window_size,
            sink_size,
            cache.max_batch_size,
            cache.dtype,
        )
    return module


def _with_context(params: ModelArgs, rows: int) -> ModelArgs:
    import dataclasses

    return dataclasses.replace(params, max_context_len=rows)
