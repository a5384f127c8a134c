# SPDX-License-Identifier: BSD-3-Clause
"""How far an output is from its reference, in numbers that can be reported."""

from __future__ import annotations

from dataclasses import dataclass

import torch


@dataclass
class TensorStatistics:
    shape: torch.Size
    numel: int
    median: float
    mean: float
    max: int | float | bool
    min: int | float | bool

    @classmethod
    def from_tensor(cls, tensor: torch.Tensor) -> TensorStatistics:
        """NaN throughout for a tensor without elements."""
        if tensor.numel() == 0:
            return cls(tensor.shape, 0, *[float("nan")] * 4)
        flat = tensor.flatten().to(torch.float64)
        return cls(
            shape=tensor.shape,
            numel=tensor.numel(),
            median=flat.median().item(),
            mean=flat.mean().item(),
            max=flat.max().item(),
            min=flat.min().item(),
        )


@dataclass
class ErrorStatistics:
    """Errors are actual - reference; None where the shapes differ, as there are none then."""

    reference_stats: TensorStatistics
    actual_stats: TensorStatistics
    error_l2_norm: float | None
    error_mae: float | None  # mean of the magnitudes
    error_max: float | None  # largest magnitude
    error_msd: float | None  # mean of the signed differences
    sqnr: float | None  # 20 log10(|actual| / |error|), in dB

    @classmethod
    def from_tensors(cls, actual: torch.Tensor, reference: torch.Tensor) -> ErrorStatistics:
        stats = TensorStatistics.from_tensor(reference), TensorStatistics.from_tensor(actual)
        if actual.shape != reference.shape or actual.numel() == 0:
            return cls(*stats, None, None, None, None, None)
        wanted = reference.to(torch.float64)
        error = actual.to(torch.float64) - wanted
        ratio = torch.linalg.norm(wanted + error) / torch.linalg.norm(error)
        return cls(
            *stats,
            error_l2_norm=torch.linalg.norm(error).item(),
            error_mae=error.abs().mean().item(),
            error_max=error.abs().max().item(),
            error_msd=error.mean().item(),
            sqnr=(20 * torch.log10(ratio)).item(),
        )
