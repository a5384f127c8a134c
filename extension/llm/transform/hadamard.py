# SPDX-License-Identifier: BSD-3-Clause
"""Rotations of SpinQuant that are computed while a program runs.

R1 and R2 stand in the checkpoint's weights, and w2 is multiplied by the matrix that R4 undoes: a Hadamard transform of
what w2 takes, which spreads large values over all channels before they become 8 bits.
"""

from __future__ import annotations

import torch
from torch import nn

from executorch.extension.llm.model.feed_forward import FeedForward


class RotatedFeedForward(nn.Module):
    """w2(H(act(w1 x) * w3 x)), by llama::fast_hadamard_transform."""

    def __init__(self, plain: FeedForward) -> None:
        super().__init__()
        self.w1, self.w2, self.w3, self.act_fn = plain.w1, plain.w2, plain.w3, plain.act_fn

    def forward(self, x: torch.Tensor) -> torch.Tensor:
        inner = self.act_fn(self.w1(x)) * self.w3(x)
        return self.w2(torch.ops.llama.fast_hadamard_transform(inner))


def inject_fast_hadamard_transform_native_for_spin_quant(module: nn.Module) -> nn.Module:
    """Every feed-forward network of `module` rotates what its last layer takes."""
    from executorch.extension.llm.custom_ops import custom_ops  # noqa: F401

    for owner in list(module.modules()):
        inner = getattr(owner, "feed_forward", None)
        if isinstance(inner, FeedForward):
            owner.feed_forward = RotatedFeedForward(inner)
    return module
