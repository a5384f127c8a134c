# SPDX-License-Identifier: BSD-3-Clause
"""Scales of weights by blocks, each a multiple of its channel's, from 1 to 16."""

from __future__ import annotations

import torch
from torchao.quantization.granularity import PerTensor
from torchao.quantization.pt2e.observer import AffineQuantizedObserverBase, MappingType

_MAX_MULTIPLE = 16  # of a channel's scale, that a block's is
_TRIED = 6  # multiples for each block, from the one that cuts nothing off downwards


class PerBlockParamObserver(AffineQuantizedObserverBase):
    """Of a weight [channels, inputs, ..] whose blocks, of `block_size`, lie along its inputs. Of some multiples the one
    is taken that leaves the least square error: what it cuts off is less than what finer steps gain."""

    def __init__(
        self,
        dtype: torch.dtype,
        block_size: tuple[int, ...],
        quant_min: int,
        quant_max: int,
        eps: float = torch.finfo(torch.float32).eps,
        qscheme: torch.qscheme = torch.per_channel_symmetric,
        is_dynamic: bool = False,
    ) -> None:
        if qscheme != torch.per_channel_symmetric or is_dynamic:
            raise ValueError(
                f"expected per_channel_symmetric of a weight, found {qscheme}, is_dynamic={is_dynamic}"
            )
        super().__init__(
            MappingType.SYMMETRIC, dtype, PerTensor(), quant_min=quant_min, quant_max=quant_max, eps=eps
        )  # fmt: skip
        self.dtype, self.block_size = dtype, block_size
        self._weight: torch.Tensor | None = None
        self._scales: torch.Tensor | None = None

    def forward(self, input: torch.Tensor) -> torch.Tensor:
        """Scales are found when they are asked for, once for all calls with a weight."""
        self._weight, self._scales = input.detach(), None
        self.original_dtype = input.dtype
        return input

    def calculate_qparams(self) -> tuple[torch.Tensor, torch.Tensor]:
        """[channels, blocks, 1, ..] of scales, and zeros."""
        if self._scales is None:
            self._scales = self._found(self._weight)
        return self._scales, torch.zeros_like(self._scales, dtype=torch.int32)

    @torch.no_grad()
    def _found(self, weight: torch.Tensor) -> torch.Tensor:
        columns = self.block_size[1]
        blocks = weight.float().reshape(weight.shape[0], -1, columns)
        largest = blocks.abs().amax(2, keepdim=True) / self.quant_max
        channels = (largest.amax(1, keepdim=True) / _MAX_MULTIPLE).clamp(min=self.eps)
        first = (largest / channels).ceil()
        best = torch.full_like(largest, float("inf"))
        scales = torch.empty_like(largest)
        for less in range(_TRIED):
            tried = (first - less).clamp(1, _MAX_MULTIPLE) * channels
            near = (blocks / tried).round_().clamp_(self.quant_min, self.quant_max).mul_(tried)
            error = near.sub_(blocks).square_().sum(2, keepdim=True)
            is_less = error < best
            best, scales = torch.where(is_less, error, best), torch.where(is_less, tried, scales)
        return scales.reshape(*scales.shape[:2], *[1] * (weight.dim() - 2))
