# SPDX-License-Identifier: BSD-3-Clause
"""The steps that save most for a byte, and choices that losses correct."""

from __future__ import annotations

import itertools
import random
from dataclasses import dataclass

import pytest
import torch

from executorch.devtools.accuracy.choices import best_within, choose, cost_of, error_of, within
from executorch.devtools.accuracy.curvature import draw_classes, draw_values, watch


@dataclass
class _Option:
    cost: float
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


@dataclass
class _Between:
    """Two parts whose options cost differently (floats are those without errors) must convert."""

    parts: list[int]
    price: float

    def cost(self, options: list[_Option]) -> float:
        return self.price * (len({option.error > 0 for option in options}) - 1)


def test_floats_take_cheap_neighbours_along() -> None:
    """The middle of five loses 9 in few bits, others 1; 4 are allowed. A conversion moves from one side of a neighbour
    to the other for what floats cost more there, which is 1: worth it where the inner one costs more than 1 and the
    outer."""
    sites = [_Site([_Option(10, error), _Option(10 + more, 0.0)]) for more, error in
             ((10, 1.0), (1, 1.0), (10, 9.0), (1, 1.0), (10, 1.0))]  # fmt: skip

    def floats(*prices: float) -> list[int]:
        links = [_Between([i, i + 1], price) for i, price in enumerate(prices)]
        chosen = choose(sites, enough=4.0, links=links)
        return [i for i, option in enumerate(chosen) if not option.error]

    assert floats(0, 0, 0, 0) == [2]
    assert floats(0.5, 0.8, 0.8, 0.5) == [2]  # 1 + 0.5 beside 0.8
    assert floats(0.5, 8, 8, 0.5) == [1, 2, 3]  # 1 + 0.5 beside 8
    assert floats(0.5, 8, 0.8, 0.5) == [1, 2]
    assert floats(8, 8, 8, 8) == [2]  # 1 + 8 beside 8


@pytest.mark.parametrize("seed", range(6))
def test_no_step_of_one_or_two_parts_is_left(seed: int) -> None:
    """That costs less within the errors; and of all 64 choices none costs a quarter less."""
    draw = random.Random(seed)
    count, enough = 6, 6.0
    sites = [
        _Site([_Option(draw.uniform(1, 3), draw.uniform(1, 4)), _Option(draw.uniform(3, 6), 0.0)])
        for _ in range(count)
    ]
    links = [_Between([i, i + 1], draw.uniform(0, 4)) for i in range(count - 1)]
    chosen = choose(sites, enough=enough, links=links)
    cost = cost_of(chosen, links)
    assert error_of(chosen) <= enough
    for first, second in itertools.product(range(count), repeat=2):
        if first == second or abs(first - second) == 1:
            for one, two in itertools.product(sites[first].options, sites[second].options):
                other = list(chosen)
                other[first], other[second] = one, two
                is_step = first == second or one.error == two.error == 0 or one.error and two.error
                assert (
                    not is_step or error_of(other) > enough or cost_of(other, links) >= cost - 1e-6
                )
    all_choices = itertools.product(*(site.options for site in sites))
    best = min(cost_of(each, links) for each in all_choices if error_of(each) <= enough)
    assert cost <= 1.25 * best


def test_what_is_too_good_goes_back() -> None:
    """Errors of 4 and 3, 3.5 allowed: one step for a cost of 1 is enough. Errors of 2 and 6, 2 allowed: 2 for a cost of
    1 is the better step, but 6 for a cost of 8 is enough alone."""
    link = [_Between([0, 1], 0.25)]
    sites = [_Site([_Option(1, 4.0), _Option(2, 0.0)]), _Site([_Option(1, 3.0), _Option(3, 0.0)])]
    assert [o.error for o in choose(sites, enough=3.5, links=link)] == [0.0, 3.0]
    assert cost_of(choose(sites, enough=3.5, links=link), link) == 2 + 1 + 0.25
    sites = [_Site([_Option(1, 2.0), _Option(2, 0.0)]), _Site([_Option(1, 6.0), _Option(9, 0.0)])]
    assert [o.error for o in choose(sites, enough=2.0, links=link)] == [2.0, 0.0]


@pytest.mark.parametrize("power", [0.5, 1.0])
@pytest.mark.parametrize("scale", [0.02, 1.0, 50.0])
def test_estimates_that_are_wrong_are_corrected(power: float, scale: float) -> None:
    """The true loss is `scale` times what is thought; 31 of 255 are the most that is allowed."""
    sites = _sites(8)
    allowed = scale * 31.0**power
    found = within(sites, allowed, lambda c: scale * error_of(c) ** power, 255.0, power, tries=8)
    best = best_within(found, allowed)
    assert best is not None and error_of(best.chosen) == 31.0
    chosen = [[option.cost for option in each.chosen] for each in found]
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
