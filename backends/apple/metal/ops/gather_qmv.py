# SPDX-License-Identifier: BSD-3-Clause
"""`metal::gather_qmv`: each row of x times the 4-bit matrix of one expert, as mixtures of experts do."""

from __future__ import annotations

import torch
from torch import Tensor

from executorch.backends.apple.metal.ops.library import LIBRARY

LIBRARY.define(
    "gather_qmv(Tensor x, Tensor w, Tensor scales, Tensor biases, Tensor expert_indices, int group_size) -> Tensor"
)


@torch.library.impl(LIBRARY, "gather_qmv", "CPU")
def gather_qmv(
    x: Tensor, w: Tensor, scales: Tensor, biases: Tensor, expert_indices: Tensor, group_size: int
) -> Tensor:
    """x [P, K]; w uint8 [E, N, K/2], the low nibble first; scales and biases [E, N, K/group_size]; a weight is
    q * scale + bias; expert_indices [P]. Gives [P, N]."""
    _check(x, w, scales, biases, expert_indices, group_size)
    chosen = expert_indices.long()
    packed = w[chosen]
    quantized = torch.stack((packed & 15, packed >> 4), dim=-1).flatten(-2)  # [P, N, K]
    groups = quantized.float().unflatten(-1, (-1, group_size))
    scale, bias = (each[chosen].float().unsqueeze(-1) for each in (scales, biases))
    weights = (groups * scale + bias).flatten(-2)
    return torch.einsum("pnk,pk->pn", weights, x.float()).to(x.dtype)


@torch.library.register_fake("metal::gather_qmv", lib=LIBRARY)
def _fake(
    x: Tensor, w: Tensor, scales: Tensor, biases: Tensor, expert_indices: Tensor, group_size: int
) -> Tensor:
    _check(x, w, scales, biases, expert_indices, group_size)
    return x.new_empty(x.shape[0], w.shape[1])


def _check(
    x: Tensor, w: Tensor, scales: Tensor, biases: Tensor, expert_indices: Tensor, group_size: int
) -> None:
    rows, columns = x.shape
    experts, outputs, _ = w.shape
    expected = {
        "w": (w, (experts, outputs, columns // 2)),
        "scales": (scales, (experts, outputs, columns // group_size)),
        "biases": (biases, (experts, outputs, columns // group_size)),
        "expert_indices": (expert_indices, (rows,)),
    }
    for name, (given, sizes) in expected.items():
        if tuple(given.shape) != sizes:
            raise ValueError(
                f"metal::gather_qmv: {name}: expected sizes {list(sizes)} for x {list(x.shape)}, w {list(w.shape)} "
                f"and groups of {group_size}, found {list(given.shape)}"
            )
    if w.dtype != torch.uint8:
        raise ValueError(
            f"metal::gather_qmv: w: expected uint8, two weights a byte, found {w.dtype}"
        )
