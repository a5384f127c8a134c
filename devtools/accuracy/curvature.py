# SPDX-License-Identifier: BSD-3-Clause
"""What a rounded value would cost a model, without a run for each.

Rounding changes a value by d. To second order the loss grows by half of (g . d)^2, where g is the gradient of the loss
at the value for an output that the model itself draws: the Fisher information takes the Hessian's place (as in arXiv
2306.07629, whole vectors here in place of single weights). One pass forward and back gives g of all values at once.
What is drawn is a class, by the probabilities that the model gives (errors are nats then), or outputs with normal noise
around them (errors are half the square of |change| / |output|). Errors are taken to add up."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Protocol, TypeVar

import torch
from torch import Tensor
from torch.nn import functional


class Costly(Protocol):
    """What has an error to be estimated."""

    error: float


T = TypeVar("T", bound=Costly)


def watch(value: Tensor, options: Sequence[T], change: Callable[[T], Tensor], dim: int) -> None:
    """Once gradients come, adds what each option's change of the value costs to its error. What is summed before it is
    squared: the last dimension, for a sequence whose tokens are predictions of their own, or from `dim` on."""

    @torch.no_grad()
    def add(gradient: Tensor) -> None:
        gradient = gradient.nan_to_num(0.0, 0.0, 0.0)  # a root at 0 has none
        for option in options:
            products = (change(option) * gradient).flatten(dim)
            option.error += 0.5 * float(products.sum(-1).square().sum())

    if value.requires_grad:
        value.register_hook(add)


def draw_classes(rows: Tensor, draw: torch.Generator) -> int:
    """Back from a class for each row of logits; how many rows there are."""
    drawn = torch.multinomial(rows.detach().softmax(-1), 1, generator=draw)
    functional.cross_entropy(rows, drawn[:, 0], reduction="sum").backward()
    return len(rows)


def draw_values(outputs: Sequence[Tensor], draw: torch.Generator) -> int:
    """Back from noise at each output, in units of the output's norm; 1."""
    total = torch.zeros(())
    for output in outputs:
        norm = output.detach().norm().clamp(min=1e-12)
        noise = torch.randn(output.shape, generator=draw)
        total = total + (output * noise).sum() / norm
    if total.requires_grad:
        total.backward()
    return 1
