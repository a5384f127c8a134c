# SPDX-License-Identifier: BSD-3-Clause
"""Where transposes are placed: nothing is cheaper for two layouts, which trying all ways says."""

from __future__ import annotations

import random
from collections.abc import Hashable
from itertools import product

import pytest
import torch

from executorch.exir.backend.lowering.layout import (
    NHWC,
    PLAIN,
    LayoutCandidate,
    Network,
    Ports,
    alike,
    cost,
    permutation,
    solve,
)

PACKED = "packed"


def test_all_operands_alike_the_first_layout_first() -> None:
    found = alike("ab", NHWC, PLAIN)
    assert list(found) == [NHWC, PLAIN]
    assert found[NHWC] == LayoutCandidate((NHWC, NHWC), NHWC)


def _given(value: str, layout: str = PLAIN) -> Ports:
    """An argument."""
    return Ports((), value, {layout: LayoutCandidate((), layout)})


def _wanted(value: str, layout: str = PLAIN) -> Ports:
    """An output."""
    return Ports((value,), None, {layout: LayoutCandidate((layout,))})


def _fixed(result: str, *operands: str, layout: str = NHWC) -> Ports:
    return Ports(operands, result, {layout: LayoutCandidate((layout,) * len(operands), layout)})


def _either(result: str, *operands: str, layouts: tuple[str, ...] = (PLAIN, NHWC)) -> Ports:
    return Ports(
        operands, result, {each: LayoutCandidate((each,) * len(operands), each) for each in layouts}
    )


def _weight(value: Hashable) -> float:
    """Of `c8`, 8."""
    digits = "".join(filter(str.isdigit, str(value)))
    return float(digits or 1)


CASES = {
    "chain": ([_given("x"), _fixed("a", "x"), _either("b", "a"), _fixed("c", "b"), _wanted("c")], 2),
    "chain of linear and convolution": (
        [_given("x"), _fixed("a", "x"), _either("b", "a"), _fixed("c", "b", layout=PLAIN), _wanted("c")],
        2,
    ),
    "where least is moved": (
        [_given("x9", NHWC), _either("a1", "x9"), _either("b9", "a1"), _wanted("b9")],
        1,
    ),
    "diamond": (
        [_given("x"), _fixed("a", "x"), _either("b", "a"), _either("c", "a"), _either("d", "b", "c"), _fixed("e", "d")],
        1,
    ),
    "concat of many plain and one convolution": (
        [*(_given(each) for each in "xyz"), _fixed("a9", "x"), _either("b", "a9", "y", "z"), _wanted("b")],
        4,  # x, y, z and what comes out
    ),
    "residual": (
        [_given("x"), _fixed("a", "x"), _either("b", "a"), _fixed("c", "b"), _either("d", "c", "b"), _wanted("d")],
        2,
    ),
    "a late reader decides": (
        [_given("x", NHWC), _either("a", "x"), _fixed("b", "a", layout=PLAIN), _fixed("c", "a", layout=PLAIN)],
        1,
    ),
    "one transpose serves all readers": (
        [_given("x"), _fixed("a", "x"), _fixed("b", "x"), _either("c", "a", "b"), _either("d", "x"), _wanted("d")],
        1,
    ),
}  # fmt: skip


@pytest.mark.parametrize("name", CASES)
def test_transposes_are_as_few_as_can_be(name: str) -> None:
    rows, expected = CASES[name]
    assert cost(rows, solve(rows, _weight), _weight) == expected == _least(rows)


def _least(rows: list[Ports]) -> float:
    return min(cost(rows, chosen, _weight) for chosen in product(*(row.candidates for row in rows)))


def test_a_permute_that_renames_costs_nothing() -> None:
    """An image channels last becomes rows of channels, as they lie; from a plain one it takes a transpose."""
    permute = {
        NHWC: LayoutCandidate((NHWC,), PLAIN),
        PLAIN: LayoutCandidate((PLAIN,), PLAIN, cost=5),
    }
    rows = [
        _given("x"),
        _fixed("a5", "x"),
        _either("b5", "a5"),
        Ports(("b5",), "c5", permute),
        _wanted("c5"),
    ]
    assert solve(rows, _weight)[2:4] == [NHWC, NHWC]
    rows = [_given("x5"), _either("b5", "x5"), Ports(("b5",), "c5", permute), _wanted("c5")]
    assert cost(rows, solve(rows, _weight), _weight) == 5 == _least(rows)


def test_what_a_row_does_not_care_about_is_not_moved() -> None:
    rows = [
        _given("x", NHWC),
        Ports(("x",), "a", {PLAIN: LayoutCandidate((None,), PLAIN)}),
        _wanted("a"),
    ]
    assert cost(rows, solve(rows, _weight), _weight) == 0


def test_of_equally_cheap_ways_the_first_is_taken() -> None:
    for layouts in ((PLAIN, NHWC), (NHWC, PLAIN)):
        rows = [_given("x"), _given("y", NHWC), _either("a", "x", "y", layouts=layouts)]
        assert solve(rows, _weight)[-1] == layouts[0]


def _drawn(rng: random.Random, layouts: tuple[str, ...]) -> list[Ports]:
    rows = [_given(f"x{rng.randint(1, 9)}_{n}", rng.choice(layouts)) for n in range(2)]
    for number in range(7):
        values = [row.writes for row in rows if row.writes is not None]
        operands = [str(rng.choice(values)) for _ in range(rng.randint(1, 3))]
        result = f"v{rng.randint(1, 9)}_{number}"
        some = tuple(rng.sample(layouts, rng.randint(1, len(layouts))))
        rows.append(_either(result, *dict.fromkeys(operands), layouts=some))
    return [*rows, _wanted(str(rows[-1].writes), rng.choice(layouts))]


def _of_name(value: Hashable) -> float:
    return float(str(value)[1])


@pytest.mark.parametrize("seed", range(60))
def test_drawn_graphs_of_two_layouts(seed: int) -> None:
    rows = _drawn(random.Random(seed), (PLAIN, NHWC))
    every = product(*(row.candidates for row in rows))
    least = min(cost(rows, chosen, _of_name) for chosen in every)
    assert cost(rows, solve(rows, _of_name), _of_name) == least


def test_drawn_graphs_of_three_layouts() -> None:
    """Not always the least; at most a twentieth more, over all."""
    found = best = 0.0
    for seed in range(40):
        rows = _drawn(random.Random(seed), (PLAIN, NHWC, PACKED))
        found += cost(rows, solve(rows, _of_name), _of_name)
        best += min(
            cost(rows, chosen, _of_name) for chosen in product(*(row.candidates for row in rows))
        )
    assert best <= found <= 1.05 * best


def test_a_cut_is_the_least_one_nearest_to_the_source() -> None:
    network = Network()
    for start, end, room in (
        ("s", "a", 3),
        ("s", "b", 1),
        ("a", "c", 1),
        ("b", "c", 5),
        ("c", "t", 2),
    ):
        network.add(start, end, room)
    assert network.cut("s", "t") == {"s", "a"}


@pytest.mark.parametrize("rank", [3, 4, 5])
def test_permutations_turn_one_layout_into_the_other(rank: int) -> None:
    image = torch.empty(2, 3, *range(4, rank + 2))
    last = image.permute(permutation(rank, PLAIN, NHWC))
    assert last.shape == (2, *range(4, rank + 2), 3)
    assert last.permute(permutation(rank, NHWC, PLAIN)).shape == image.shape
