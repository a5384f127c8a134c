# SPDX-License-Identifier: BSD-3-Clause
"""The steps that save most for a byte, and choices that losses correct."""

from __future__ import annotations

from dataclasses import dataclass

import pytest
import torch

from executorch.devtools.accuracy.choices import best_within, choose, error_of, within
from executorch.devtools.accuracy.curvature import draw_classes, draw_values, watch


@dataclass
class _Option:
    bytes: int
    error: float


@dataclass
class _Site:
    options: list[_Option]


def _sites(count: int) -> list[_Site]:
    """Few bits cost 1, 2, 4, ... in all; floats nothing, for 10 bytes more."""
    return [_Site([_Option(10, 2.0**i), _Option(20, 0.0)]) for i in range(count)]


def test_the_step_that_saves_most_for_a_byte_comes_first() -> None:
    """From 10 + 10 bytes: a step of 10 bytes that saves 0.5, one of 10 that saves 0.3 and one of 20 that saves 0.7
    (0.035 a byte); after the first, 0.7 - 0.3 are left for its last 10."""
    rows = [[(10, 1.0), (20, 0.5)], [(10, 1.0), (20, 0.7), (30, 0.3)]]
    sites = [_Site([_Option(*each) for each in row]) for row in rows]

    def errors(**limits: float) -> list[float]:
        return [option.error for option in choose(sites, **limits)]

    assert errors(most=20) == [1.0, 1.0]
    assert errors(most=30) == [0.5, 1.0]
    assert errors(most=40) == [0.5, 0.7]
    assert errors(most=50) == errors() == [0.5, 0.3]
    assert errors(enough=1.6) == [0.5, 1.0]


@pytest.mark.parametrize("power", [0.5, 1.0])
@pytest.mark.parametrize("scale", [0.02, 1.0, 50.0])
def test_estimates_that_are_wrong_are_corrected(power: float, scale: float) -> None:
    """The true loss is `scale` times what is thought; 31 of 255 are the most that is allowed."""
    sites = _sites(8)
    allowed = scale * 31.0**power
    found = within(sites, allowed, lambda c: scale * error_of(c) ** power, 255.0, power, tries=8)
    best = best_within(found, allowed)
    assert best is not None and error_of(best.chosen) == 31.0
    chosen = [[option.bytes for option in each.chosen] for each in found]
    assert len(chosen) == len({tuple(each) for each in chosen}), "no choice is measured twice"


def test_what_nothing_keeps_ends_at_the_part_that_loses_least() -> None:
    found = within(_sites(4), 0.01, error_of, 15.0, tries=8)
    assert best_within(found, 0.01) is None
    assert min(each.lost for each in found) == 1.0


def test_noise_at_outputs_foretells_the_square_of_their_change() -> None:
    """y = A x, and x changes by d: half of |A d|^2 / |y|^2, over draws."""
    draw = torch.Generator().manual_seed(0)
    matrix, x, d = (torch.randn(*sizes, generator=draw) for sizes in ((6, 4), (4,), (4,)))
    option, count = _Option(0, 0.0), 600
    for _ in range(count):
        value = x.clone().requires_grad_()
        watch(value, [option], lambda _: d, dim=0)
        draw_values([matrix @ value], draw)
    expected = 0.5 * (matrix @ d).square().sum() / (matrix @ x).square().sum()
    assert option.error / count == pytest.approx(expected.item(), rel=0.2)


def test_drawn_classes_foretell_the_divergence() -> None:
    """Logits change by d: half of the variance of d under their probabilities, as the divergence is to second order."""
    draw = torch.Generator().manual_seed(0)
    logits, d = torch.randn(1, 5, generator=draw), 0.1 * torch.randn(1, 5, generator=draw)
    option, count = _Option(0, 0.0), 600
    for _ in range(count):
        value = logits.clone().requires_grad_()
        watch(value, [option], lambda _: d, dim=-1)
        assert draw_classes(value, draw) == 1
    p = logits.softmax(-1)
    expected = 0.5 * ((p * d.square()).sum() - (p * d).sum().square())
    assert option.error / count == pytest.approx(expected.item(), rel=0.2)
