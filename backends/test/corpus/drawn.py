# SPDX-License-Identifier: BSD-3-Clause
"""Networks of layers that a number draws: a few small rows here, thousands of all sizes by executorch.tools.drawn."""

from __future__ import annotations

import math
import random
from dataclasses import dataclass

import torch
from torch import nn
from torch.utils.flop_counter import FlopCounterMode

from executorch.backends.test.corpus.drawn_layers import ANYWHERE, BRIDGES, LAYERS, RANKS, Draw
from executorch.backends.test.corpus.row import Function, Row, row

COUNT = 16


@dataclass(frozen=True)
class Limits:
    """Of one layer: elements of its result, weights, multiplications; how many layers there are, and which widths and
    sizes are drawn. `own`: the share of layers that are of their kind of values, not for all kinds."""

    values: int
    weights: int
    products: int
    layers: tuple[int, int]
    widths: tuple[int, ...]
    sizes: tuple[int, ...]
    own: float


SMALL = Limits(
    20_000, 50_000, 2_000_000, (4, 12), (1, 3, 5, 8, 31, 33), (1, 2, 3, 5, 7, 9, 16), 0.5
)
# Of 256 KiB and more, matrices of floats are packed by the second run only.
LARGE = Limits(
    values=400_000,
    weights=2_000_000,
    products=60_000_000,
    layers=(3, 10),
    widths=(1, 3, 8, 16, 33, 64, 96, 96, 128, 128, 256, 256, 384, 512, 768, 1024),
    sizes=(1, 2, 3, 5, 7, 9, 14, 16, 28, 33),
    own=0.75,
)
_TRIES = 60  # a layer that does not fit where it is drawn is left out


def network(
    numbers: random.Random, limits: Limits = SMALL
) -> tuple[list[str], nn.Module, torch.Tensor]:
    """Names of its layers, the network and an input. Its weights are PyTorch's random numbers."""
    draw = Draw(numbers, limits.widths, limits.sizes)
    kind = draw.random.choice(["image"] * 4 + ["signal", "volume", "sequence", "sequence", "rows"])
    shape = [draw.of(1, 1, 2), *(draw.size() for _ in range(RANKS[kind] - 1))]
    channels = -1 if kind in ("sequence", "rows") else 1
    shape[channels] = draw.width()
    while math.prod(shape) > limits.values:
        shape[shape.index(max(shape))] //= 2
    x = torch.randn(shape)
    names, layers, value = [kind], [], x
    depth = draw.random.randrange(*limits.layers)
    for _ in range(_TRIES):
        name, layer, then = _layer(draw, kind, value.shape, limits.own)
        after = _result(layer, value, limits) if layer is not None else None
        if after is not None:
            names.append(name)
            layers.append(layer)
            value, kind = after, then
        if len(layers) == depth:
            break
    return names, nn.Sequential(*layers).eval(), x


def _layer(
    draw: Draw, kind: str, shape: torch.Size, own: float
) -> tuple[str, nn.Module | None, str]:
    """Name, layer and the kind of its results; no layer where it cannot be made for this shape."""
    if draw.chance(0.1):
        then = draw.random.choice(list(BRIDGES[kind]))
        return f"to {then}", Function(BRIDGES[kind][then]), then
    kinds = LAYERS[kind] if draw.chance(own) else ANYWHERE
    name = draw.random.choice(list(kinds))
    try:
        layer = kinds[name](draw, shape).eval()
    except (RuntimeError, ValueError):
        return name, None, kind
    _move_norms(layer)
    return name, layer, kind


def _move_norms(layer: nn.Module) -> None:
    """Norms begin as ones and zeros, with which much could be left out unnoticed."""
    for each in layer.modules():
        for name, tensor in (
            *each.named_parameters(recurse=False),
            *each.named_buffers(recurse=False),
        ):
            if "norm" in type(each).__name__.lower() and tensor.is_floating_point():
                low = 0.5 if "weight" in name or "var" in name else -0.5
                tensor.data.uniform_(low, low + 1)


def _result(layer: nn.Module, value: torch.Tensor, limits: Limits) -> torch.Tensor | None:
    """None where the layer does not take the value, or is too large."""
    if sum(each.numel() for each in layer.parameters()) > limits.weights:
        return None
    counter = FlopCounterMode(display=False)
    try:
        with torch.no_grad(), counter:
            after = layer(value)
    except (RuntimeError, ValueError):
        return None
    is_large = after.numel() > limits.values or counter.get_total_flops() > 2 * limits.products
    return after if after.numel() > 0 and not is_large and after.isfinite().all() else None


def drawn(seed: int, limits: Limits = SMALL) -> Row:
    """The row of that number, the same in every process."""
    with torch.random.fork_rng(devices=[]):
        torch.manual_seed(seed)
        names, module, x = network(random.Random(seed), limits)
    return row(f"{seed} {' '.join(names)}", module, x, tolerance=2e-4)


DRAWN: list[Row] = [drawn(seed) for seed in range(COUNT)]
FAMILIES = {"drawn networks": DRAWN}
