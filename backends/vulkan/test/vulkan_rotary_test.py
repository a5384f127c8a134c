# SPDX-License-Identifier: BSD-3-Clause
"""Rotary embeddings of queries and keys are one call, where it means the same (VK-019)."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import pytest
import torch
from torch import Tensor, nn
from torch.export import Dim

from executorch.backends.vulkan.test.lowered import chain, check_values, delegates, left, lower
from executorch.extension.llm.model.rope import apply_half_rotary, apply_rotary_emb

PAIRS, HALVES = "et_vk.apply_rotary_emb.default", "et_vk.apply_rotary_emb_hf.default"


class Turned(nn.Module):
    def __init__(self, turn: Callable[..., Any], layers: int = 1) -> None:
        super().__init__()
        self.turn, self.layers = turn, layers

    def forward(self, q: Tensor, k: Tensor, cos: Tensor, sin: Tensor) -> tuple[Tensor, Tensor]:
        for _ in range(self.layers):
            q, k = self.turn(q + 0.5, k * 2, cos, sin)
        return q, k


def given(width: int, rows: int = 6, batch: int = 1) -> tuple[Tensor, ...]:
    tables = torch.linspace(-3, 3, rows * width).view(rows, width)
    return (torch.randn(batch, rows, 4, 16), torch.randn(batch, rows, 2, 16), tables.cos(), tables.sin())  # fmt: skip


def _halves_in_other_orders(
    q: Tensor, k: Tensor, cos: Tensor, sin: Tensor
) -> tuple[Tensor, Tensor]:
    """Of sums and products the second operand first."""
    cos, sin = cos.unsqueeze(1), sin.unsqueeze(1)

    def turned(x: Tensor) -> Tensor:
        return sin * torch.cat([-x[..., 8:], x[..., :8]], -1) + cos * x

    return turned(q), turned(k)


@pytest.mark.parametrize(
    ("turn", "width", "name"),
    [
        (_halves_in_other_orders, 16, HALVES),
        (apply_rotary_emb, 8, PAIRS),
        (apply_half_rotary, 16, HALVES),
        (apply_half_rotary, 8, HALVES),
    ],
    ids=["other orders", "neighbours", "halves", "halves of the first columns"],
)
@pytest.mark.parametrize("batch", [1, 2])
def test_one_call_of_queries_and_keys(turn: Any, width: int, name: str, batch: int) -> None:
    torch.manual_seed(0)
    model, inputs = Turned(turn, layers=3), given(width, batch=batch)
    edge = lower(model, inputs)
    names = [each for each in chain(edge) if "unsqueeze" not in each]
    assert names == ["aten.add.Tensor", "aten.mul.Tensor", name] * 3 and not left(edge)
    check_values(model, inputs, edge)


def test_rows_that_change() -> None:
    rows = Dim("rows", min=1, max=16)
    model, shapes = Turned(apply_rotary_emb), ({1: rows}, {1: rows}, {0: rows}, {0: rows})
    edge = lower(model, given(8), dynamic_shapes=shapes)
    assert chain(edge).count(PAIRS) == 1
    check_values(model, given(8), edge, runs=[given(8, rows=count) for count in (6, 1, 16)])


def _of_one_tensor(q: Tensor, k: Tensor, cos: Tensor, sin: Tensor) -> tuple[Tensor, Tensor]:
    turned = apply_rotary_emb(q, k, cos, sin)[0]
    return turned, turned[:, :, :2] + k


def _one_after_the_other(q: Tensor, k: Tensor, cos: Tensor, sin: Tensor) -> tuple[Tensor, Tensor]:
    """The keys need the turned queries."""
    first = apply_rotary_emb(q, q, cos, sin)[0]
    return first, apply_rotary_emb(k + first[:, :, :2], k, cos, sin)[0]


def _by_one_row(q: Tensor, k: Tensor, cos: Tensor, sin: Tensor) -> tuple[Tensor, Tensor]:
    return apply_rotary_emb(q, k, cos[:1], sin[:1])


def _back(q: Tensor, k: Tensor, cos: Tensor, sin: Tensor) -> tuple[Tensor, Tensor]:
    """Queries the one way, keys the other."""
    return apply_rotary_emb(q, k, cos, sin)[0], apply_rotary_emb(q, k, cos, -sin)[1]


@pytest.mark.parametrize("turn", [_of_one_tensor, _one_after_the_other, _by_one_row, _back])
def test_what_one_call_cannot_say(turn: Any) -> None:
    torch.manual_seed(0)
    model, inputs = Turned(turn), given(8)
    edge = lower(model, inputs)
    assert PAIRS not in chain(edge) and not left(edge)
    check_values(model, inputs, edge)


def _by_tables(x: Tensor, cos: Tensor, sin: Tensor) -> Tensor:
    """As the halves are turned, by tables that broadcast with x."""
    half = x.shape[-1] // 2
    return x * cos + torch.cat([-x[..., half:], x[..., :half]], -1) * sin


def _both(tables: Callable[[Tensor], Tensor]) -> Callable[..., Any]:
    """Queries and keys by the same."""

    def turn(q: Tensor, k: Tensor, cos: Tensor, sin: Tensor) -> tuple[Tensor, Tensor]:
        cos, sin = tables(cos), tables(sin)
        return _by_tables(q, cos, sin), _by_tables(k, cos, sin)

    return turn


Q, K = torch.randn(2, 6, 4, 16), torch.randn(2, 6, 2, 16)
ANGLES = torch.linspace(-3, 3, 6 * 16).view(6, 16)
FITS = _both(lambda table: table.unsqueeze(1))
# Queries, keys, angles, and the turn by tables that are made of these.
TABLES: dict[str, tuple[Tensor, Tensor, Tensor, Any]] = {
    "no batch": (Q[0], K[0], ANGLES, FITS),
    "rows for each batch": (Q[:1], K[:1], ANGLES[None], _both(lambda table: table.unsqueeze(2))),
    "one row for each batch": (Q[:1, :1], K[:1, :1], ANGLES[None, :1], _both(lambda table: table.unsqueeze(2))),
    "heads of their own": (Q, Q + 1, ANGLES[:4], _both(lambda table: table.unsqueeze(0))),
    "heads of their own, one row": (Q[:, :1], Q[:, :1] + 1, ANGLES[:4], _both(lambda table: table.unsqueeze(0))),
    "one row for all": (Q, K, ANGLES[:1], FITS),
    "tables with a dimension for heads": (Q, K, ANGLES[:, None], _both(lambda table: table)),
    "tables by another call": (Q, K, ANGLES[:, None], _both(lambda table: table + 0)),
    "halves by tables of floats": (Q.half(), K.half(), ANGLES, FITS),
    "floats by tables of halves": (Q, K, ANGLES.half(), FITS),
}  # fmt: skip


@pytest.mark.parametrize("name", TABLES)
def test_tables_that_one_call_does_not_take(name: str) -> None:
    q, k, angles, turn = TABLES[name]
    inputs = (q, k, angles.cos(), angles.sin())
    edge = lower(Turned(turn), inputs)
    assert HALVES not in chain(edge) and not left(edge)


def test_tables_that_one_call_takes() -> None:
    for q, k, angles in ((Q, K, ANGLES), (Q[:1], K[:1], ANGLES), (Q[:, :1], K[:, :1], ANGLES[:1])):
        inputs = (q, k, angles.cos(), angles.sin())
        edge = lower(Turned(FITS), inputs)
        assert chain(edge).count(HALVES) == 1 and not left(edge)
        check_values(Turned(FITS), inputs, edge)


def test_turns_of_doubles_stay_outside() -> None:
    inputs = tuple(each.double() for each in (Q, K, ANGLES.cos(), ANGLES.sin()))
    assert not delegates(lower(Turned(FITS), inputs))


def _slices(first: slice, second: slice, rest: slice | None = None) -> Callable[..., Any]:
    """Turns by other columns than the halves."""

    def turn(q: Tensor, k: Tensor, cos: Tensor, sin: Tensor) -> tuple[Tensor, ...]:
        cos, sin = cos.unsqueeze(1), sin.unsqueeze(1)

        def turned(x: Tensor) -> Tensor:
            return x * cos + torch.cat([-x[..., second], x[..., first]], -1) * sin

        if rest is None:
            return turned(q), turned(k)
        width = cos.shape[-1]
        return tuple(torch.cat([turned(x[..., :width]), x[..., rest]], -1) for x in (q, k))

    return turn


# Columns of the sixteen of a head, of which angles of eight turn the first.
SLICES = {
    "quarters": (_slices(slice(0, 4), slice(4, 16)), ANGLES),
    "the second half first": (_slices(slice(8, 16), slice(0, 8)), ANGLES),
    "the middle": (_slices(slice(0, 8), slice(4, 12)), ANGLES),
    "the first from the second column on": (_slices(slice(1, 9), slice(8, 16)), ANGLES),
    "every second": (_slices(slice(0, 16, 2), slice(8, 16)), ANGLES),
    "every second of the others": (_slices(slice(0, 8), slice(0, 16, 2)), ANGLES),
    "the rest from column 6 on": (_slices(slice(0, 4), slice(4, 8), slice(6, 16)), ANGLES[:, :8]),
    "the rest without the last": (_slices(slice(0, 4), slice(4, 8), slice(8, 15)), ANGLES[:, :8]),
    "every second of the rest": (_slices(slice(0, 4), slice(4, 8), slice(8, 16, 2)), ANGLES[:, :8]),
}


@pytest.mark.parametrize("name", SLICES)
def test_columns_that_one_call_does_not_turn(name: str) -> None:
    turn, angles = SLICES[name]
    edge = lower(Turned(turn), (Q, K, angles.cos(), angles.sin()))
    assert (HALVES in chain(edge), left(edge)) == (False, [])


def _pairs(
    seen: Callable[[Tensor], Tensor],
    dim: int = -1,
    factors: tuple[int, int] = (1, 1),
    joined: Callable[[Tensor, Tensor], Tensor] = lambda y, x: y.flatten(-2),
) -> Callable[..., Any]:
    """Turns of pairs along `dim` of what is seen of x."""

    def turn(q: Tensor, k: Tensor, cos: Tensor, sin: Tensor) -> tuple[Tensor, ...]:
        cos, sin = cos.unsqueeze(1), sin.unsqueeze(1)

        def turned(x: Tensor) -> Tensor:
            a, b = seen(x).unbind(dim)
            real = torch.sub(a * cos, b * sin, alpha=factors[0])
            return joined(
                torch.stack((real, torch.add(a * sin, b * cos, alpha=factors[1])), dim), x
            )

        return turned(q), turned(k)

    return turn


def _in_pairs(x: Tensor) -> Tensor:
    return x.unflatten(-1, (-1, 2))


SHORT = (Q[..., :4].contiguous(), K[..., :4].contiguous())
# What is turned, by which angles, how, and whether one call does that.
PAIRED: dict[str, tuple[tuple[Tensor, Tensor], Tensor, Any, bool]] = {
    "pairs": ((Q, K), ANGLES[:, :8], _pairs(_in_pairs), True),
    "pairs of four": (SHORT, ANGLES[:, :2], _pairs(_in_pairs), True),
    "no batch": ((Q[0], K[0]), ANGLES[:, :8], _pairs(_in_pairs), False),
    "heads that are joined": (
        (Q, K), ANGLES, _pairs(lambda x: x.reshape(2, 6, -1, 16, 2), joined=lambda y, x: y.reshape(x.shape)), False),
    "heads that are joined behind": (
        (Q, K), ANGLES[:, :8], _pairs(_in_pairs, joined=lambda y, x: y.reshape(2, 6, -1, 32)), False),
    "rows that are joined behind": (
        (Q, K), ANGLES[:, :8], _pairs(_in_pairs, joined=lambda y, x: y.reshape(4, 3, -1, 16)), False),
    "halves of four": (SHORT, ANGLES[:, :2], _pairs(lambda x: x.unflatten(-1, (2, 2)), -2), False),
    "less of the sines": ((Q, K), ANGLES[:, :8], _pairs(_in_pairs, factors=(2, 1)), False),
    "more of the cosines": ((Q, K), ANGLES[:, :8], _pairs(_in_pairs, factors=(1, 2)), False),
}  # fmt: skip


@pytest.mark.parametrize("name", PAIRED)
def test_pairs_that_one_call_turns(name: str) -> None:
    given, angles, turn, is_one = PAIRED[name]
    edge = lower(Turned(turn), (*given, angles.cos(), angles.sin()))
    assert (PAIRS in chain(edge), left(edge)) == (is_one, [])
