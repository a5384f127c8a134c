# SPDX-License-Identifier: BSD-3-Clause
"""Attention for accelerators: all shapes fixed, and keys and values of earlier calls come in and go out.

A program takes the caches, masks and rotary tables of a call as inputs and gives keys and values of its tokens; who
calls it puts them into the caches (static_io.py does). Caches are two dicts, of keys and of values, by layer and head.
"""

from __future__ import annotations

import copy
from collections.abc import Callable, Iterable
from typing import Any

import torch
from torch import nn

from executorch.extension.llm.model.args import ModelArgs
from executorch.extension.llm.model.attend import attend
from executorch.extension.llm.model.attention import Attention, AttentionMHA, register_attention
from executorch.extension.llm.model.rope import Rope, turn_halves, turn_neighbors

# keys, values: by StaticKVCache.cache_key()
CacheState = tuple[dict[str, torch.Tensor], dict[str, torch.Tensor]]
STYLES = ("shift_pointer", "smart_mask")


def expect_style(style: str) -> None:
    if style not in STYLES:
        raise ValueError(f"style: expected {' or '.join(STYLES)}, found {style!r}")


class StaticKVCache(nn.Module):
    """Keys or values (batch, tokens, head) or (batch, kv heads, tokens, head) of a layer, outside of the program."""

    # of a CacheState; which dimension counts tokens
    part: int
    dim = -2

    def __init__(self, layer_id: int, head_id: int) -> None:
        super().__init__()
        self.layer_id, self.head_id = layer_id, head_id

    def update(
        self,
        new_data: torch.Tensor,
        in_cache_state: CacheState | None,
        out_cache_state: CacheState | None,
    ) -> tuple[torch.Tensor, CacheState | None]:
        """Cached tokens and the new ones behind them; and `out_cache_state` with the new ones. Without a cache of the
        layer: the new tokens alone."""
        key = self.cache_key()
        if in_cache_state is None or key not in in_cache_state[self.part]:
            return new_data, out_cache_state
        if out_cache_state is None:
            out_cache_state = ({}, {})
        out_cache_state[self.part][key] = new_data
        return torch.cat([in_cache_state[self.part][key], new_data], self.dim), out_cache_state

    def cache_key(self) -> str:
        return self.calculate_cache_key(self.layer_id, self.head_id)

    @staticmethod
    def calculate_cache_key(layer_id: int, head_id: int) -> str:
        return f"l{layer_id},h{head_id}"

    @staticmethod
    def apply_update(
        cache: torch.Tensor,
        update: torch.Tensor,
        pos: int,
        style: str,
        transpose: bool = False,
        update_pos: int = 0,
        update_len: int | None = None,
    ) -> torch.Tensor:
        """The cache with tokens [update_pos, update_pos + update_len) of `update`, all behind `update_pos` by default.

        shift_pointer: rows move up and the new ones come last; smart_mask: the new ones go to `pos`, in place.
        `transpose`: tokens are the last dimension.
        """
        expect_style(style)
        dim = -1 if transpose else -2
        if update_len is None:
            update_len = update.shape[dim] - update_pos
        new, rows = update.narrow(dim, update_pos, update_len), cache.shape[dim]
        if style == "smart_mask":
            if pos + update_len > rows:
                raise ValueError(
                    f"cache: expected tokens up to position {rows}, found {pos + update_len}; the cache is full"
                )
            cache.narrow(dim, pos, update_len).copy_(new)
            return cache
        joined = torch.cat([cache, new], dim)
        return joined.narrow(dim, joined.shape[dim] - rows, rows)


class StaticKCache(StaticKVCache):
    """`transpose`: (.., head, tokens), which saves an accelerator a transposition."""

    part = 0

    def __init__(self, layer_id: int, head_id: int, transpose: bool = False) -> None:
        super().__init__(layer_id, head_id)
        self.transpose = transpose
        self.dim = -1 if transpose else -2

    def update(
        self,
        new_data: torch.Tensor,
        in_cache_state: CacheState | None,
        out_cache_state: CacheState | None,
    ) -> tuple[torch.Tensor, CacheState | None]:
        if self.transpose:
            new_data = new_data.transpose(-1, -2)
        return super().update(new_data, in_cache_state, out_cache_state)


class StaticVCache(StaticKVCache):
    part = 1


class StaticRope(nn.Module):
    """Turns (.., tokens, head) by tables (tokens, width): half of a head, or all that is turned of it."""

    def __init__(self, config: ModelArgs) -> None:
        super().__init__()
        self.config, self.use_hf_rope = config, config.use_hf_rope

    def forward(
        self, x: torch.Tensor, freqs_cos: torch.Tensor, freqs_sin: torch.Tensor
    ) -> torch.Tensor:
        turn = turn_halves if self.use_hf_rope else turn_neighbors
        width = self.config.rotary_dim if self.use_hf_rope else self.config.head_dim // 2
        if freqs_cos.shape[-1] != width:
            raise ValueError(
                f"static attention: expected rotary tables of width {width} (use_hf_rope={self.use_hf_rope}), found "
                f"{freqs_cos.shape[-1]}"
            )
        return turn(x, freqs_cos, freqs_sin)


def _refused(args: ModelArgs) -> Iterable[str]:
    """What a model may have and static attention has not."""
    yield from (name for name in ("use_q_gate", "attn_logit_softcapping", "target_modules", "local_rope_theta",
                                  "no_rope_layer_interval", "rope_layers") if getattr(args, name))  # fmt: skip


@register_attention("static")
class StaticAttention(Attention):
    """The options' `masks` (by cache length) are added to scores (1, tokens, cache length + tokens).

    `split_mha`: a projection for each head, tensors of three dimensions, as NPUs want; else one for all.
    """

    def __init__(
        self,
        config: ModelArgs,
        layer_id: int,
        rope: Rope,
        split_mha: bool = True,
        is_kv_shared_layer: bool = False,
        **kwargs: Any,
    ) -> None:
        super().__init__()
        if found := ", ".join(_refused(config)):
            raise ValueError(f"static attention: expected a model without {found}")
        self.config, self.layer_id, self.split_mha = config, layer_id, split_mha
        self.n_heads, self.n_kv_heads, self.head_dim = (
            config.n_heads,
            config.n_kv_heads,
            config.head_dim,
        )
        self.n_rep, self.dim = config.n_heads // config.n_kv_heads, config.dim
        self.inv_scale = config.attention_multiplier or self.head_dim**-0.5
        self.scale_query_by, self.use_conv2d = config.scale_query_by, False
        self.is_kv_shared_layer = is_kv_shared_layer
        heads, kv_heads = (config.n_heads, config.n_kv_heads) if split_mha else (1, 1)

        def projections(count: int, width: int) -> nn.ModuleList:
            out, bias = width // count, config.attention_qkv_bias
            return nn.ModuleList(nn.Linear(config.dim, out, bias=bias) for _ in range(count))

        self.wqs = projections(heads, self.n_heads * self.head_dim)
        if not is_kv_shared_layer:
            self.wks = projections(kv_heads, self.n_kv_heads * self.head_dim)
            self.wvs = projections(kv_heads, self.n_kv_heads * self.head_dim)
            self.k_caches = nn.ModuleList(StaticKCache(layer_id, i) for i in range(kv_heads))
            self.v_caches = nn.ModuleList(StaticVCache(layer_id, i) for i in range(kv_heads))
        self.wo = nn.Linear(self.n_heads * self.head_dim, config.dim, bias=False)
        self.rope = StaticRope(config)
        self.qk_norm_before_rope = config.qk_norm_before_rope
        normed = config.use_qk_norm
        self.q_norm = AttentionMHA._norm(config) if normed else nn.Identity()
        self.k_norm = AttentionMHA._norm(config) if normed else nn.Identity()
        if kwargs.get("use_conv2d"):
            self.linear_to_conv2d()

    @classmethod
    def from_attention_mha(
        cls,
        other: AttentionMHA,
        split_mha: bool = True,
        rms_norm_class: Callable[..., nn.Module] = nn.RMSNorm,
        **kwargs: Any,
    ) -> StaticAttention:
        shared = other.is_kv_shared_layer
        ours = cls(other.args, other.layer_id, other.rope, split_mha, shared, **kwargs)
        ours.load_weights_from_attention_mha(other, rms_norm_class)
        return ours.to(other.wo.weight.dtype).train(other.training)

    def load_weights_from_attention_mha(
        self, other: AttentionMHA, rms_norm_class: Callable[..., nn.Module] = nn.RMSNorm
    ) -> None:
        """Norms become `rms_norm_class` (width, eps, elementwise_affine), one call for a backend."""
        pairs = [(self.wqs, other.wq)]
        if not self.is_kv_shared_layer:
            pairs += [(self.wks, other.wk), (self.wvs, other.wv)]
        for ours, whole in pairs:
            for name, value in whole.named_parameters():
                for layer, part in zip(ours, value.detach().chunk(len(ours))):
                    target = getattr(layer, name)
                    target.data = part.reshape(target.shape).clone()
        self.wo.weight.data = other.wo.weight.detach().reshape(self.wo.weight.shape).clone()
        for name in ("q", "k") if other.use_qk_norm else ():
            theirs = getattr(other, f"{name}_norm_fn", None)
            if theirs is None:
                continue
            weight = getattr(theirs, "weight", None)
            norm = rms_norm_class(self.head_dim, theirs.eps, weight is not None)
            if weight is not None:
                offset = 1.0 if theirs.add_unit_offset else 0.0
                norm.weight = nn.Parameter(weight.detach().clone() + offset)
            setattr(self, f"{name}_norm", norm)

    def forward(
        self, x: torch.Tensor, freqs_cos: torch.Tensor, freqs_sin: torch.Tensor, **kwargs: Any
    ) -> tuple[torch.Tensor, dict[str, Any]]:
        """Gives (batch, tokens, dim), and `out_cache_state`."""
        if "masks" not in kwargs:
            raise ValueError(
                "static attention: expected the option masks (mask by cache length), found none; "
                "StaticAttentionIOManager makes it"
            )

        def turned(heads: list[torch.Tensor], norm: nn.Module) -> list[torch.Tensor]:
            if self.qk_norm_before_rope:
                heads = [norm(head) for head in heads]
            heads = [self.rope(head, freqs_cos, freqs_sin) for head in heads]
            return heads if self.qk_norm_before_rope else [norm(head) for head in heads]

        tokens = x.shape[1]
        if self.use_conv2d:
            x = x.transpose(1, 2).unsqueeze(2)  # (batch, dim, 1, tokens)
        queries = [q * self.scale_query_by for q in turned(self._heads(self.wqs, x), self.q_norm)]
        out_state = kwargs.get("out_cache_state")
        if self.is_kv_shared_layer:
            keys, values = kwargs["shared_kv"]["static"]
        else:
            keys, values = [], []
            new_keys = turned(self._heads(self.wks, x), self.k_norm)
            for caches, new, all_rows in (
                (self.k_caches, new_keys, keys),
                (self.v_caches, self._heads(self.wvs, x), values),
            ):
                for cache, head in zip(caches, new):
                    rows, out_state = cache.update(head, kwargs.get("in_cache_state"), out_state)
                    all_rows.append(rows)
            if "shared_kv" in kwargs:
                kwargs["shared_kv"]["static"] = keys, values
        mask = kwargs["masks"][keys[0].shape[-2] - tokens]
        mixed = [
            self._mixed(q, *(rows[i * len(keys) // len(queries)] for rows in (keys, values)), mask)
            for i, q in enumerate(queries)
        ]
        out = self._project_out(mixed)
        return out, {} if out_state is None else {"out_cache_state": out_state}

    def _heads(self, layers: nn.ModuleList, x: torch.Tensor) -> list[torch.Tensor]:
        """(batch, tokens, head) of each layer; of one layer for all heads (batch, heads, tokens, head)."""
        heads = [layer(x) for layer in layers]
        if self.use_conv2d:
            heads = [head.squeeze(2).transpose(1, 2) for head in heads]
        if self.split_mha:
            return heads
        return [heads[0].unflatten(-1, (-1, self.head_dim)).transpose(1, 2)]

    def _mixed(
        self, q: torch.Tensor, k: torch.Tensor, v: torch.Tensor, mask: torch.Tensor
    ) -> torch.Tensor:
        if not self.split_mha:
            k, v = (rows.repeat_interleave(self.n_rep, 1) for rows in (k, v))
        return attend(q, k, v, mask, self.inv_scale)

    def _project_out(self, mixed: list[torch.Tensor]) -> torch.Tensor:
        out = torch.cat(mixed, -1) if self.split_mha else mixed[0].transpose(1, 2).flatten(2)
        if not self.use_conv2d:
            return self.wo(out)
        return self.wo(out.transpose(1, 2).unsqueeze(2)).squeeze(2).transpose(1, 2)

    def adopt_hf_rope(self) -> None:
        """Neighbors become halves, in weights and rotation: the same attention by cheaper operators. Tables are those
        of `use_hf_rope` then."""
        if self.rope.use_hf_rope:
            return
        own = [self.wqs] if self.is_kv_shared_layer else [self.wqs, self.wks]
        for layers in own:
            for value in (p for layer in layers for p in layer.parameters()):
                heads = value.data.unflatten(0, (-1, self.head_dim // 2, 2))
                value.data = heads.transpose(1, 2).reshape(value.shape).contiguous()
        for norm in (self.q_norm, self.k_norm):
            if getattr(norm, "weight", None) is not None:
                norm.weight.data = norm.weight.data.unflatten(0, (-1, 2)).T.flatten().contiguous()
        self.rope.use_hf_rope = True

    def linear_to_conv2d(self) -> None:
        """Projections become convolutions of one pixel, which some accelerators run faster."""

        def conv(layer: nn.Linear) -> nn.Conv2d:
            has_bias = layer.bias is not None
            made = nn.Conv2d(layer.in_features, layer.out_features, 1, bias=has_bias)
            made.weight.data = layer.weight.data[:, :, None, None]
            if has_bias:
                made.bias.data = layer.bias.data
            return made

        if self.use_conv2d:
            return
        names = ("wqs",) if self.is_kv_shared_layer else ("wqs", "wks", "wvs")
        for name in names:
            setattr(self, name, nn.ModuleList(conv(layer) for layer in getattr(self, name)))
        self.wo = conv(self.wo)
        self.use_conv2d = True


@register_attention("static_mha")
class StaticAttentionMHA(StaticAttention):
    """One projection for all heads."""

    def __init__(self, config: ModelArgs, layer_id: int, rope: Rope, **kwargs: Any) -> None:
        super().__init__(config, layer_id, rope, split_mha=False, **kwargs)


def transform_attention_mha_to_static_attention(
    model: nn.Module,
    split_mha: bool = True,
    inplace: bool = True,
    use_conv2d: bool = False,
    use_hf_rope: bool = False,
    **kwargs: Any,
) -> nn.Module:
    """Every AttentionMHA with its weights; the options are those of StaticAttention and its methods."""
    if not inplace:
        model = copy.deepcopy(model)
    for owner in list(model.modules()):
        for name, child in list(owner.named_children()):
            if not isinstance(child, AttentionMHA):
                continue
            ours = StaticAttention.from_attention_mha(child, split_mha, **kwargs)
            if use_hf_rope:
                ours.adopt_hf_rope()
            if use_conv2d:
                ours.linear_to_conv2d()
            setattr(owner, name, ours)
    return model
