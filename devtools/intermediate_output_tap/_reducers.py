# SPDX-License-Identifier: BSD-3-Clause
"""What is kept of a tapped tensor: all of it, or numbers about it."""

from __future__ import annotations

import math
from collections.abc import Callable
from dataclasses import dataclass

import torch
from torch import fx

from executorch.devtools.intermediate_output_tap._inline import inline

EagerFn = Callable[[torch.Tensor], torch.Tensor]
EmitFn = Callable[[fx.Graph, fx.Node], fx.Node]


@dataclass(frozen=True)
class StatReducer:
    """`eager` computes; `emit` adds nodes of the edge dialect that do, at the graph's place of insertion, and gives the
    last."""

    name: str
    fields: tuple[str, ...]
    emit: EmitFn
    eager: EagerFn


def _eager_full_tensor(x: torch.Tensor) -> torch.Tensor:
    return x


def _emit_full_tensor(graph: fx.Graph, value: fx.Node) -> fx.Node:
    return value


_STATS_FIELDS = (
    "min", "max", "mean", "abs_max", "abs_mean", "std", "rms", "l1_norm", "l2_norm",
    "nan_count", "inf_count", "zero_count", "p99_abs",
)  # fmt: skip


def _eager_stats(x: torch.Tensor) -> torch.Tensor:
    """In the order of the fields. `std` is of all elements, not of a sample; `p99_abs` an element: of n absolute values
    the ceil(n / 100)-th largest."""
    flat = x.detach().to(torch.float32).reshape(-1)
    if flat.numel() == 0:
        return torch.zeros(len(_STATS_FIELDS))
    magnitude, square = flat.abs(), flat * flat
    mean = flat.mean()
    rank = flat.numel() - math.ceil(flat.numel() / 100)
    return torch.stack(
        [
            flat.amin(),
            flat.amax(),
            mean,
            magnitude.amax(),
            magnitude.mean(),
            ((flat - mean) * (flat - mean)).mean().sqrt(),
            square.mean().sqrt(),
            magnitude.sum(),
            square.sum().sqrt(),
            torch.isnan(flat).to(torch.float32).sum(),
            torch.isinf(flat).to(torch.float32).sum(),
            (flat == 0).to(torch.float32).sum(),
            torch.sort(magnitude)[0][rank],
        ]
    )


def _emit_stats(graph: fx.Graph, value: fx.Node) -> fx.Node:
    return inline(graph, value, _eager_stats)


FULL_TENSOR = StatReducer("FULL_TENSOR", (), _emit_full_tensor, _eager_full_tensor)
STATS = StatReducer("STATS", _STATS_FIELDS, _emit_stats, _eager_stats)
_BUILT_IN = {each.name: each for each in (FULL_TENSOR, STATS)}


def get_reducer(name_or_reducer: str | StatReducer) -> StatReducer:
    """A reducer as it is; those that come with this package by their name, too. ValueError for another name."""
    if isinstance(name_or_reducer, StatReducer):
        return name_or_reducer
    if name_or_reducer not in _BUILT_IN:
        raise ValueError(f"Unknown reducer {name_or_reducer!r}; available: {sorted(_BUILT_IN)}")
    return _BUILT_IN[name_or_reducer]
