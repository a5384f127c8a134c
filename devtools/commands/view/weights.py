# SPDX-License-Identifier: BSD-3-Clause
"""Weights as small histograms."""

from __future__ import annotations

import torch

from executorch.devtools.commands.view.graph import Weight

_BINS = 24
_MIN_ELEMENTS = 8  # elements that have a histogram
_MAX_COUNTED = 1 << 16  # elements that are counted: every n-th of a larger tensor


def weight_of(name: str, kind: str, num_bytes: int, values: torch.Tensor | None) -> Weight:
    """`values`: None where they are not known."""
    if values is None or values.numel() < _MIN_ELEMENTS or values.dtype.is_complex:
        return Weight(name, kind, num_bytes)
    flat = values.detach().reshape(-1)
    flat = flat[:: max(1, flat.numel() // _MAX_COUNTED)].float()
    flat = flat[flat.isfinite()]
    if not flat.numel():
        return Weight(name, kind, num_bytes)
    low, high = float(flat.min()), float(flat.max())
    counts = torch.histc(flat, _BINS, low, high if high > low else low + 1)
    shares = (100 * counts / counts.max()).ceil().int().tolist()
    return Weight(name, kind, num_bytes, low, high, tuple(shares))
