# SPDX-License-Identifier: BSD-3-Clause
"""Windows and frequencies, computed from a range."""

from __future__ import annotations

import math
from typing import Any

import torch

aten = torch.ops.aten
Tensor = torch.Tensor


def _angles(length: int, periodic: bool, dtype: torch.dtype | None) -> Tensor:
    """2 pi i / n for each place of a window."""
    count = length if periodic else length - 1
    places = torch.arange(length, dtype=dtype or torch.get_default_dtype())
    return places * (2 * math.pi / max(count, 1))


def _hamming(length: int, *, dtype: Any = None, **place: Any) -> Tensor:
    return _hamming_periodic_alpha_beta(length, True, dtype=dtype)


def _hamming_periodic(length: int, periodic: bool, *, dtype: Any = None, **place: Any) -> Tensor:
    return _hamming_periodic_alpha_beta(length, periodic, dtype=dtype)


def _hamming_periodic_alpha(
    length: int, periodic: bool, alpha: float, *, dtype: Any = None, **place: Any
) -> Tensor:
    return _hamming_periodic_alpha_beta(length, periodic, alpha, dtype=dtype)


def _hamming_periodic_alpha_beta(
    length: int,
    periodic: bool,
    alpha: float = 0.54,
    beta: float = 0.46,
    *,
    dtype: Any = None,
    **place: Any,
) -> Tensor:
    if length == 1:
        return torch.ones(1, dtype=dtype)
    return alpha - beta * _angles(length, periodic, dtype).cos()


def _fftfreq(n: int, d: float = 1.0, *, dtype: Any = None, **place: Any) -> Tensor:
    wanted = dtype or torch.get_default_dtype()
    half = (n + 1) // 2
    places = torch.cat([torch.arange(half, dtype=wanted), torch.arange(-(n // 2), 0, dtype=wanted)])
    return places * (1 / (n * d))


def _rfftfreq(n: int, d: float = 1.0, *, dtype: Any = None, **place: Any) -> Tensor:
    places = torch.arange(n // 2 + 1, dtype=dtype or torch.get_default_dtype())
    return places * (1 / (n * d))


CREATION = {
    aten.hamming_window.default: _hamming,
    aten.hamming_window.periodic: _hamming_periodic,
    aten.hamming_window.periodic_alpha: _hamming_periodic_alpha,
    aten.hamming_window.periodic_alpha_beta: _hamming_periodic_alpha_beta,
    aten.fft_fftfreq.default: _fftfreq,
    aten.fft_rfftfreq.default: _rfftfreq,
}
