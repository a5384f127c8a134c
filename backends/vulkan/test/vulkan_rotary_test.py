# SPDX-License-Identifier: BSD-3-Clause
"""Rotary embeddings of queries and keys are one call, where it means the same (VK-019)."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import pytest
import torch
from torch import Tensor, nn
from torch.export import Dim

from executorch.backends.vulkan.test.lowered import chain, check_values, left, lower
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
