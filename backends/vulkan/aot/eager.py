# SPDX-License-Identifier: BSD-3-Clause
"""What the float operators of et_vk compute."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import torch
from torch import Tensor

Pair = tuple[Tensor, Tensor]


def conv_with_clamp(*args: Any) -> Tensor:
    """The last two are limits, None for none."""
    *convolution, low, high = args
    high = None if high is not None and high > torch.finfo(torch.float32).max else high
    found = torch.ops.aten.convolution.default(*convolution)
    return found if low is None and high is None else torch.clamp(found, low, high)


def grid_priors(like: Tensor, stride: int, offset: float) -> Tensor:
    """Row h*W + w is ((w + offset) * stride, (h + offset) * stride)."""
    height, width = like.shape[-2:]
    x = (torch.arange(width, dtype=torch.float32, device=like.device) + offset) * stride
    y = (torch.arange(height, dtype=torch.float32, device=like.device) + offset) * stride
    rows, columns = torch.meshgrid(y, x, indexing="ij")
    return torch.stack((columns.reshape(-1), rows.reshape(-1)), dim=-1)


def sdpa(
    q: Tensor, k: Tensor, v: Tensor, attn_mask: Tensor | None = None, scale: float | None = None
) -> Tensor:
    """[batch, heads, rows, head]; logits in float32."""
    factor = q.shape[-1] ** -0.5 if scale is None else scale
    logits = torch.matmul(q.float(), k.float().transpose(-2, -1)) * factor
    if attn_mask is not None:
        logits = logits + attn_mask
    return torch.matmul(torch.softmax(logits, -1), v.float()).to(q.dtype)


def rms_norm(x: Tensor, weight: Tensor, eps: float) -> Tensor:
    wide = x.float()
    found = wide * torch.rsqrt(wide.pow(2).mean(-1, keepdim=True) + eps) * weight.float()
    return found.to(x.dtype)


def apply_rotary_emb(xq: Tensor, xk: Tensor, freqs_cos: Tensor, freqs_sin: Tensor) -> Pair:
    """[batch, rows, heads, head]; pairs are neighbours."""

    def turned(x: Tensor) -> Tensor:
        even, odd = x.float().unflatten(-1, (-1, 2)).unbind(-1)
        cos, sin = freqs_cos[None, :, None], freqs_sin[None, :, None]
        pairs = torch.stack((even * cos - odd * sin, even * sin + odd * cos), dim=-1)
        return pairs.flatten(3).to(x.dtype)

    return turned(xq), turned(xk)


def apply_rotary_emb_hf(
    xq: Tensor, xk: Tensor, freqs_cos: Tensor, freqs_sin: Tensor, start_pos: int
) -> Pair:
    """[batch, rows, heads, head]; pairs are the halves of the first columns, as many as the tables have; the others
    stay. Rows of the tables from `start_pos` on."""
    width = freqs_cos.shape[-1]

    def turned(x: Tensor) -> Tensor:
        rows = x.shape[1]
        cos = freqs_cos.narrow(0, start_pos, rows)[None, :, None]
        sin = freqs_sin.narrow(0, start_pos, rows)[None, :, None]
        inner, rest = x[..., :width].float(), x[..., width:]
        first, second = inner.chunk(2, -1)
        other = torch.cat((-second, first), dim=-1)
        return torch.cat(((inner * cos + other * sin).to(x.dtype), rest), dim=-1)

    return turned(xq), turned(xk)


def apply_rotary_emb_interleaved(x: Tensor, freqs_cis: Tensor) -> Tensor:
    """[batch, rows, columns]; `freqs_cis` has pairs of cosine and sine."""
    even, odd = x.float().unflatten(-1, (-1, 2)).unbind(-1)
    cos, sin = freqs_cis.float().reshape(x.shape[-2], -1, 2).unbind(-1)
    pairs = torch.stack((even * cos - odd * sin, even * sin + odd * cos), dim=-1)
    return pairs.flatten(-2).to(x.dtype)


def select_as_symint(x: Tensor, dim: int, index: int) -> Any:
    """The element as a size."""
    from torch._subclasses.fake_tensor import FakeTensor

    mode = x.fake_mode if isinstance(x, FakeTensor) else None
    if mode is None or mode.shape_env is None:
        raise RuntimeError(
            "et_vk::select_as_symint gives a size, which only programs that are traced have"
        )
    return mode.shape_env.create_unbacked_symint()


def fused_ce(logits: Tensor, labels: Tensor, n_valid: float) -> Pair:
    """Mean loss over labels that are not negative, and its gradient."""
    is_valid = labels >= 0
    picked = labels.clamp(min=0).long().unsqueeze(-1)
    wide = logits.float()
    losses = torch.logsumexp(wide, -1) - wide.gather(-1, picked).squeeze(-1)
    loss = torch.where(is_valid, losses, 0).sum() / n_valid
    one_hot = torch.zeros_like(wide).scatter_(-1, picked, 1.0)
    gradient = (torch.softmax(wide, -1) - one_hot) / n_valid * is_valid.unsqueeze(-1)
    return loss, gradient.to(logits.dtype)


def linear_dW(d_out: Tensor, x: Tensor) -> Tensor:
    return d_out.flatten(0, -2).t() @ x.flatten(0, -2)


def adamw_step(
    param: Tensor, m: Tensor, v: Tensor, grad: Tensor, lr: float, beta1: float, beta2: float, eps: float,
    weight_decay: float, bias_correction1: float, bias_correction2: float,
) -> tuple[Tensor, Tensor, Tensor]:  # fmt: skip
    param.mul_(1 - lr * weight_decay)
    m.mul_(beta1).add_(grad, alpha=1 - beta1)
    v.mul_(beta2).addcmul_(grad, grad, value=1 - beta2)
    param.sub_(lr * (m / bias_correction1) / ((v / bias_correction2).sqrt() + eps))
    return param, m, v


def into_out(function: Callable[..., Tensor]) -> Callable[..., Tensor]:
    def write(*args: Any, out: Tensor, **kwargs: Any) -> Tensor:
        found = function(*args, **kwargs)
        return out.resize_(found.shape).copy_(found)

    return write


# ---- Gradients ----


def _save_logits(ctx: Any, inputs: tuple[Any, ...], output: Pair) -> None:
    ctx.save_for_backward(output[1])


def _logits_gradient(ctx: Any, of_loss: Tensor, of_gradient: Tensor) -> tuple[Any, ...]:
    (gradient,) = ctx.saved_tensors
    return of_loss * gradient, None, None


def _save_weights(ctx: Any, inputs: tuple[Any, ...], output: Tensor) -> None:
    x, weights, scales, group_size, bias = inputs
    ctx.save_for_backward(weights, scales)
    ctx.group_size, ctx.has_bias = group_size, bias is not None


def _input_gradient(ctx: Any, of_output: Tensor) -> tuple[Any, ...]:
    weights, scales = ctx.saved_tensors
    of_input = torch.ops.et_vk.linear_q4gsw_backward(of_output, weights, scales, ctx.group_size)
    of_bias = of_output.flatten(0, -2).sum(0) if ctx.has_bias else None
    return of_input, None, None, None, of_bias


def register_gradients(library: Any) -> None:
    for name, backward, save in (
        ("fused_ce", _logits_gradient, _save_logits),
        ("linear_q4gsw", _input_gradient, _save_weights),
    ):
        torch.library.register_autograd(f"et_vk::{name}", backward, setup_context=save, lib=library)
