# SPDX-License-Identifier: BSD-3-Clause
"""What mixes tokens without attention: a short convolution (LFM2) and the gated delta rule (Qwen3.5).

Both keep what they need of earlier tokens in buffers, which start at zero when a text does (position 0).
"""

from __future__ import annotations

from typing import Any

import torch
from torch import nn
from torch.nn import functional

from executorch.extension.llm.custom_ops.eager import gated_delta_rule
from executorch.extension.llm.model.args import ModelArgs
from executorch.extension.llm.model.attention import Attention, register_attention
from executorch.extension.llm.model.norms import RMSNormGated
from executorch.extension.llm.model.rope import Rope


def _kept(state: torch.Tensor, input_pos: torch.Tensor | None) -> torch.Tensor:
    """The state of earlier tokens, or zeros at the start of a text."""
    if input_pos is None:
        return torch.zeros_like(state)
    return torch.where(input_pos[0] == 0, torch.zeros_like(state), state)


def _depthwise(
    x: torch.Tensor, state: torch.Tensor, weight: torch.Tensor
) -> tuple[torch.Tensor, torch.Tensor]:
    """A causal convolution over (batch, channels, tokens); the second result is the last inputs it saw.

    `state` (batch, channels, taps - 1) stands before the tokens.
    """
    longer = torch.cat((state, x), -1)
    taps = weight.shape[-1]
    # a sum of shifted products: one tap after the other, for any number of tokens
    tokens = x.shape[-1]
    out = sum(longer.narrow(-1, tap, tokens) * weight[:, 0, tap, None] for tap in range(taps))
    return out, longer[..., 1 - taps :]


class ShortConv(nn.Module):
    """out(C * conv(B * x)), where B, C and x are projections of the input."""

    TAPS = 3

    def __init__(self, args: ModelArgs) -> None:
        super().__init__()
        dim = args.dim
        self.use_kv_cache = args.use_kv_cache
        self.B_proj, self.C_proj, self.x_proj, self.out_proj = (
            nn.Linear(dim, dim, bias=False) for _ in range(4)
        )
        self.conv = nn.Conv1d(dim, dim, self.TAPS, groups=dim, bias=False)
        state = torch.zeros(args.max_batch_size, dim, self.TAPS - 1, device="cpu")
        self.register_buffer("conv_state", state, persistent=False)

    def forward(self, x: torch.Tensor, input_pos: torch.Tensor | None = None) -> torch.Tensor:
        gated = (self.B_proj(x) * self.x_proj(x)).transpose(1, 2)
        state = _kept(self.conv_state, input_pos).to(gated.dtype)
        mixed, last = _depthwise(gated, state, self.conv.weight)
        if self.use_kv_cache:
            self.conv_state.copy_(last)
        return self.out_proj(self.C_proj(x) * mixed.transpose(1, 2))

    def reset_cache(self) -> None:
        self.conv_state.zero_()


def _unit(x: torch.Tensor) -> torch.Tensor:
    return x * torch.rsqrt((x * x).sum(-1, keepdim=True) + 1e-6)


@register_attention("gated_deltanet")
class AttentionGatedDeltaNet(Attention):
    """Linear attention: the state of a head is one (K, V) matrix, however long the text."""

    def __init__(self, args: ModelArgs, layer_id: int, rope: Rope, **_kwargs: Any) -> None:
        super().__init__()
        self.layer_id, self.use_kv_cache = layer_id, args.use_kv_cache
        self.k_heads, self.v_heads = args.linear_num_key_heads, args.linear_num_value_heads
        self.k_width, self.v_width = args.linear_key_head_dim, args.linear_value_head_dim
        if self.v_heads % self.k_heads:
            raise ValueError(
                f"linear_num_value_heads: expected a multiple of linear_num_key_heads ({self.k_heads}), "
                f"found {self.v_heads}"
            )
        self.keys, self.values = self.k_heads * self.k_width, self.v_heads * self.v_width
        channels = 2 * self.keys + self.values
        self.in_proj_qkv = nn.Linear(args.dim, channels, bias=False)
        self.in_proj_z = nn.Linear(args.dim, self.values, bias=False)
        self.in_proj_b = nn.Linear(args.dim, self.v_heads, bias=False)
        self.in_proj_a = nn.Linear(args.dim, self.v_heads, bias=False)
        self.conv1d = nn.Conv1d(
            channels, channels, args.linear_conv_kernel_dim, groups=channels, bias=False
        )
        self.dt_bias = nn.Parameter(torch.ones(self.v_heads))
        self.A_log = nn.Parameter(torch.zeros(self.v_heads))
        self.norm = RMSNormGated(self.v_width, args.norm_eps)
        self.out_proj = nn.Linear(self.values, args.dim, bias=False)
        batch, taps = args.max_batch_size, args.linear_conv_kernel_dim
        state = torch.zeros(batch, self.v_heads, self.k_width, self.v_width, device="cpu")
        conv_state = torch.zeros(batch, channels, taps - 1, device="cpu")
        self.register_buffer("conv_state", conv_state, persistent=False)
        self.register_buffer("recurrent_state", state, persistent=False)
        self.rule = gated_delta_rule

    def forward(
        self,
        x: torch.Tensor,
        freqs_cos: torch.Tensor,
        freqs_sin: torch.Tensor,
        **kwargs: Any,
    ) -> tuple[torch.Tensor, Any | None]:
        input_pos = kwargs.get("input_pos")
        batch, tokens, _ = x.shape
        mixed = self.in_proj_qkv(x).float().transpose(1, 2)
        mixed, last = _depthwise(
            mixed, _kept(self.conv_state, input_pos), self.conv1d.weight.float()
        )
        mixed = functional.silu(mixed).transpose(1, 2)
        q, k, v = mixed.split((self.keys, self.keys, self.values), -1)
        repeat = self.v_heads // self.k_heads

        def heads(y: torch.Tensor, count: int, width: int) -> torch.Tensor:
            return y.reshape(batch, tokens, count, width).transpose(1, 2)

        q = _unit(heads(q, self.k_heads, self.k_width)).repeat_interleave(repeat, 1)
        k = _unit(heads(k, self.k_heads, self.k_width)).repeat_interleave(repeat, 1)
        v = heads(v, self.v_heads, self.v_width)
        beta = torch.sigmoid(self.in_proj_b(x).float()).transpose(1, 2)
        step = functional.softplus(self.in_proj_a(x).float() + self.dt_bias.float())
        decay = torch.exp(-torch.exp(self.A_log.float()) * step).transpose(1, 2)
        decay = decay[..., None].expand(-1, -1, -1, self.k_width)
        q = q * self.k_width**-0.5
        state = _kept(self.recurrent_state, input_pos)
        parts = (y.contiguous() for y in (q, k, v, decay, beta))
        out, state = self.rule(*parts, state)
        if self.use_kv_cache:
            self.conv_state.copy_(last)
            self.recurrent_state.copy_(state)
        z = self.in_proj_z(x).reshape(batch, tokens, self.v_heads, self.v_width)
        out = self.norm(out.transpose(1, 2).type_as(x), z)
        return self.out_proj(out.reshape(batch, tokens, self.values)), None
