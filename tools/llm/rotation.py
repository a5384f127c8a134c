# SPDX-License-Identifier: BSD-3-Clause
"""Weights rotated as SpinQuant does without Hadamard transforms at run time: the same function, fewer outliers.

R1 turns the residual stream, R2 the values of each head. Both are random here (SpinQuant trains them), and stand in
the weights. R4, the transform before w2, needs a width of 2^k or 28 * 2^k, which 1,536 is not.
"""

from __future__ import annotations

import torch
from torch import nn

from executorch.extension.llm.model.args import ModelArgs

State = dict[str, torch.Tensor]


def orthogonal(size: int, seed: int) -> torch.Tensor:
    """float64 [size, size]: a Hadamard matrix of the largest power of two that divides `size`, times a random
    orthogonal matrix of the rest, with random signs."""
    chance = torch.Generator().manual_seed(seed)
    even = size & -size
    hadamard = torch.ones(1, 1, dtype=torch.float64)
    while hadamard.shape[0] < even:
        hadamard = torch.cat(
            [torch.cat([hadamard, hadamard], 1), torch.cat([hadamard, -hadamard], 1)]
        )
    rest = size // even
    drawn = torch.randn(rest, rest, generator=chance, dtype=torch.float64)
    turned = torch.kron(hadamard / even**0.5, torch.linalg.qr(drawn).Q.contiguous())
    signs = 1 - 2 * torch.randint(2, (size,), generator=chance, dtype=torch.float64)
    return turned * signs


@torch.no_grad()
def rotated(model: nn.Module, args: ModelArgs, seed: int = 0) -> State:
    """A state dict of the same shape, output layer included, that computes what `model` does: a decoder with RMS norms,
    gated feed-forward networks and neither biases nor norms of queries and keys."""
    state = {name: value.double() for name, value in model.state_dict().items()}
    r1 = orthogonal(args.dim, seed)
    head = args.head_dim or args.dim // args.n_heads
    state["output.weight"] = state["output.weight"] * state["norm.weight"] @ r1
    state["tok_embeddings.weight"] = state["tok_embeddings.weight"] @ r1
    for layer in range(args.n_layers):
        at = f"layers.{layer}."
        r2 = orthogonal(head, seed + 1 + layer)
        for norm, readers in (
            ("attention_norm", ("attention.wq", "attention.wk", "attention.wv")),
            ("ffn_norm", ("feed_forward.w1", "feed_forward.w3")),
        ):
            for reader in readers:
                state[f"{at}{reader}.weight"] = (
                    state[f"{at}{reader}.weight"] * state[f"{at}{norm}.weight"] @ r1
                )
        for writer in ("attention.wo", "feed_forward.w2"):
            state[f"{at}{writer}.weight"] = r1.T @ state[f"{at}{writer}.weight"]
        values = state[f"{at}attention.wv.weight"].unflatten(0, (-1, head))
        state[f"{at}attention.wv.weight"] = torch.einsum("de,hdc->hec", r2, values).flatten(0, 1)
        output = state[f"{at}attention.wo.weight"].unflatten(1, (-1, head))
        state[f"{at}attention.wo.weight"] = (output @ r2).flatten(1, 2)
    for name, value in state.items():
        if name.endswith("norm.weight"):
            value.fill_(1.0)
    return {name: value.float().contiguous() for name, value in state.items()}
