# SPDX-License-Identifier: BSD-3-Clause
"""The code of TurboQuant: a rotation that makes all coordinates of a vector alike, and the best levels for them."""

from __future__ import annotations

import math

import torch

_REACH = 3.0  # standard deviations that levels are made for; what lies beyond takes the last one


def solve_lloyd_max(
    d: int, bits: int, *, max_iter: int = 200, tol: float = 1e-10
) -> tuple[torch.Tensor, torch.Tensor]:
    """2^bits levels, ascending, and the 2^bits - 1 boundaries between them, float32.

    Levels have the least squared error for a coordinate of a random unit vector of `d` dimensions: a normal
    distribution of variance 1 / d. Lloyd's iteration: boundaries halfway between levels, levels at the mean of their
    interval, which is (phi(a) - phi(b)) / (Phi(b) - Phi(a)), until no level moves by more than `tol`.
    """
    if d < 1 or bits < 1:
        raise ValueError(f"solve_lloyd_max: expected d and bits of 1 or more, found {d} and {bits}")
    count, unit = 2**bits, 1 / math.sqrt(d)
    ends = torch.tensor([-_REACH, _REACH], dtype=torch.float64)
    levels = _REACH * ((2 * torch.arange(count, dtype=torch.float64) + 1) / count - 1)
    for _ in range(max_iter):
        edges = torch.cat([ends[:1], (levels[1:] + levels[:-1]) / 2, ends[1:]])
        density = torch.exp(-edges * edges / 2) / math.sqrt(2 * math.pi)
        below = torch.erf(edges / math.sqrt(2)) / 2
        means = (density[:-1] - density[1:]) / (below[1:] - below[:-1])
        moved = float((means - levels).abs().max()) * unit
        levels = means
        if moved < tol:
            break
    levels = levels * unit
    return levels.float(), ((levels[1:] + levels[:-1]) / 2).float()


def generate_rotation_matrix(dim: int, seed: int = 42) -> torch.Tensor:
    """An orthogonal matrix (dim, dim), float32, uniform over all of them: Q of a normal matrix with R's diagonal
    positive. The same for the same seed."""
    normal = torch.randn(dim, dim, generator=torch.Generator().manual_seed(seed))
    q, r = torch.linalg.qr(normal)
    return q * torch.sign(torch.diagonal(r))
