# SPDX-License-Identifier: BSD-3-Clause
"""`metal::gated_delta_rule`: linear attention that forgets, over all steps of a sequence."""

from __future__ import annotations

import torch
from torch import Tensor

from executorch.backends.apple.metal.ops.library import LIBRARY

LIBRARY.define(
    "gated_delta_rule(Tensor q, Tensor k, Tensor v, Tensor g, Tensor beta, Tensor(a!) state) -> Tensor"
)


@torch.library.impl(LIBRARY, "gated_delta_rule", "CPU")
def gated_delta_rule(
    q: Tensor, k: Tensor, v: Tensor, g: Tensor, beta: Tensor, state: Tensor
) -> Tensor:
    """q, k [B, T, Hk, Dk]; v [B, T, Hv, Dv]; g, beta [B, T, Hv]; state [B, Hv, Dv, Dk], which it leaves as it is after
    the last step. For each: s = s * g; d = (v - s k) * beta; s += d k'; y = s q, in float32. Gives [B, T, Hv, Dv]."""
    _check(q, k, v, g, beta, state)
    times = v.shape[2] // k.shape[2]
    q, k = (each.float().repeat_interleave(times, 2) for each in (q, k))
    s, results = state.float(), []
    for t in range(v.shape[1]):
        s = s * g[:, t, :, None, None].float()
        read = torch.einsum("bhvk,bhk->bhv", s, k[:, t])
        d = (v[:, t].float() - read) * beta[:, t, :, None].float()
        s = s + d.unsqueeze(-1) * k[:, t].unsqueeze(-2)
        results.append(torch.einsum("bhvk,bhk->bhv", s, q[:, t]))
    state.copy_(s)
    return torch.stack(results, 1).to(v.dtype) if results else torch.empty_like(v)


@torch.library.register_fake("metal::gated_delta_rule", lib=LIBRARY)
def _fake(q: Tensor, k: Tensor, v: Tensor, g: Tensor, beta: Tensor, state: Tensor) -> Tensor:
    _check(q, k, v, g, beta, state)
    return torch.empty_like(v)


def _check(q: Tensor, k: Tensor, v: Tensor, g: Tensor, beta: Tensor, state: Tensor) -> None:
    batch, steps, heads, wide = v.shape
    expected = {
        "k": (k, (batch, steps, *k.shape[2:])),
        "q": (q, tuple(k.shape)),
        "g": (g, (batch, steps, heads)),
        "beta": (beta, (batch, steps, heads)),
        "state": (state, (batch, heads, wide, k.shape[3])),
    }
    for name, (given, sizes) in expected.items():
        if tuple(given.shape) != sizes:
            raise ValueError(
                f"metal::gated_delta_rule: {name}: expected sizes {list(sizes)} for k {list(k.shape)} and v "
                f"{list(v.shape)}, found {list(given.shape)}"
            )
    if heads % k.shape[2]:
        raise ValueError(
            f"metal::gated_delta_rule: v: expected heads that those of k, {k.shape[2]}, divide, found {heads}"
        )
