# SPDX-License-Identifier: BSD-3-Clause
"""A cache of 4 bits a number (TurboQuant)."""

from __future__ import annotations

import torch

from executorch.extension.llm.model.caches import Cache, Rows
from executorch.extension.llm.modules.turboquant.codebook import (
    generate_rotation_matrix,
    solve_lloyd_max,
)


class TurboQuantKVCache(Cache):
    """A token's head as its length, bfloat16, and its direction: turned by a fixed rotation, each coordinate the
    nearest of 16 levels, two in a byte, the even one in the high bits.

    `update` and `forward` take keys and values (1, heads, tokens, head) and the tokens' positions (tokens,), and give
    all rows as they are kept: codes and lengths of keys, codes and lengths of values. Attention that reads them turns
    its queries by `rotation_T` and compares with `centroids`.
    """

    def __init__(
        self, n_heads: int, head_dim: int, max_seq_len: int, bits: int = 4, seed: int = 42
    ) -> None:
        if bits != 4:
            raise ValueError(f"TurboQuantKVCache: expected 4 bits (two codes a byte), found {bits}")
        if head_dim % 2:
            raise ValueError(f"TurboQuantKVCache: expected an even head_dim, found {head_dim}")
        super().__init__(1, max_seq_len, n_heads, head_dim)
        self.half_dim = head_dim // 2
        centroids, boundaries = solve_lloyd_max(head_dim, bits)
        rotation = generate_rotation_matrix(head_dim, seed)
        self.register_buffer("centroids", centroids)
        self.register_buffer("boundaries", boundaries.bfloat16())
        self.register_buffer("rotation", rotation)
        self.register_buffer("rotation_T", rotation.T.contiguous().bfloat16())
        rows = (1, n_heads, max_seq_len)
        for name in ("k", "v"):
            codes = torch.zeros(*rows, self.half_dim, dtype=torch.uint8, device="cpu")
            self.register_buffer(f"{name}_packed", codes)
            lengths = torch.zeros(*rows, 1, dtype=torch.bfloat16, device="cpu")
            self.register_buffer(f"{name}_norms", lengths)

    def forward(
        self, input_pos: torch.Tensor, k_val: torch.Tensor, v_val: torch.Tensor
    ) -> tuple[torch.Tensor, ...]:
        return self.update(input_pos, k_val, v_val)

    def update(  # type: ignore[override]
        self, input_pos: torch.Tensor, k_val: torch.Tensor, v_val: torch.Tensor
    ) -> tuple[torch.Tensor, ...]:
        keys, values = super().update(input_pos, k_val, v_val)
        return *keys, *values

    def _store(self, name: str, value: torch.Tensor, rows: Rows) -> tuple[torch.Tensor, ...]:  # type: ignore[override]
        caches = getattr(self, f"{name}_packed"), getattr(self, f"{name}_norms")
        for cache, new in zip(caches, self._compress(value)):
            cache[:, :, rows] = new
        return caches

    def _compress(self, x: torch.Tensor) -> tuple[torch.Tensor, torch.Tensor]:
        """Codes (.., head / 2) and lengths (.., 1) of (.., head)."""
        x = x.to(torch.bfloat16)
        lengths = torch.linalg.vector_norm(x, dim=-1, keepdim=True)
        turned = (x / lengths.clamp(min=1e-10)) @ self.rotation_T
        codes = (turned.unsqueeze(-1) > self.boundaries).sum(-1).to(torch.uint8)
        codes = codes.unflatten(-1, (self.half_dim, 2))
        return codes[..., 0] * 16 + codes[..., 1], lengths

    def _decompress(self, packed: torch.Tensor, norms: torch.Tensor) -> torch.Tensor:
        """float32 (.., head)."""
        codes = torch.stack((packed // 16, packed % 16), -1).flatten(-2).long()
        return (self.centroids[codes] @ self.rotation_T.T.float()) * norms.float()
