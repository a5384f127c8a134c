# SPDX-License-Identifier: BSD-3-Clause
"""int64: delegated where it says which elements are meant, and whole wherever it is something else."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import pytest
import torch
from torch import Tensor, nn

from executorch.backends.vulkan.test.lowered import (
    check_values,
    delegates,
    left,
    lower,
    method_on_device,
)

TABLE = nn.Embedding(8, 4)
LARGE = torch.tensor([2**40 + 3, 5])
PLACES = torch.tensor([1, 5])


class Of(nn.Module):
    def __init__(self, function: Callable[..., Any]) -> None:
        super().__init__()
        self.function, self.table = function, TABLE

    def forward(self, *inputs: Tensor) -> Any:
        return self.function(*inputs)


@pytest.mark.parametrize(
    "function, inputs",
    [
        (lambda i: TABLE(i), (PLACES,)),
        (lambda i: TABLE(i + 2), (PLACES,)),
        (lambda i: TABLE(i.view(2, 1).expand(2, 3) * 1 - 1), (PLACES,)),
        (lambda i: TABLE(i[1:]), (PLACES,)),
        (lambda i, x: torch.where(torch.arange(4) <= i.view(2, 1), x, TABLE(i)), (PLACES, torch.ones(2, 4))),
        (lambda x: x.argmax(1), (torch.randn(3, 5),)),
        (lambda x: x.argmax(1).unsqueeze(0), (torch.randn(3, 5),)),
        (lambda x: torch.zeros_like(x, dtype=torch.int64) < torch.full((3,), 2), (torch.randn(3),)),
        (lambda x: x.to(torch.int64), (PLACES.int(),)),
    ],
)  # fmt: skip
def test_places_are_delegated(function: Callable[..., Any], inputs: tuple[Tensor, ...]) -> None:
    edge = lower(Of(function), inputs)
    assert len(delegates(edge)) == 1 and left(edge) == []
    check_values(Of(function), inputs, edge)


@pytest.mark.parametrize(
    "function",
    [
        lambda x: x + 1,
        lambda x: x * x,
        lambda x: x.sum(),
        lambda x: x > 4,
        lambda x: x[:1] * 1,
        lambda x: x.to(torch.float32),
        lambda x: torch.full((2,), 2**40) > x,
        lambda x: (x * 1.0).to(torch.int64),
    ],
)
def test_other_numbers_stay_whole(function: Callable[..., Any]) -> None:
    edge = lower(Of(function), (LARGE,))
    (found,) = method_on_device(edge).execute([LARGE])
    assert torch.equal(found, function(LARGE)) and left(edge)


def test_a_place_of_more_than_32_bits_is_an_error() -> None:
    method = method_on_device(lower(Of(TABLE), (PLACES,)))
    text = "element 0: expected a number of 32 bits, found 1099511627779"
    with pytest.raises(RuntimeError, match=text):
        method.execute([LARGE])


def test_of_whole_numbers_only_the_size_is_read() -> None:
    """They come into the delegate, and none of them is looked at."""

    def function(x: Tensor, y: Tensor) -> Tensor:
        return y.expand(x.shape[0], 3) + 1.0

    inputs, rows = (LARGE, torch.randn(1, 3)), {0: torch.export.Dim("rows", min=2, max=9)}
    edge = lower(Of(function), inputs, dynamic_shapes=((rows, None),))
    assert not left(edge)
    (found,) = method_on_device(edge).execute(list(inputs))
    assert torch.equal(found, function(*inputs))


def test_places_that_only_the_cpu_reads_stay_there() -> None:
    """A row of indices of two dimensions is read outside, and so is a list whose reader is not wanted."""
    x, i = torch.randn(4, 5, 6), torch.tensor([0, 2, 3])
    edge = lower(Of(lambda x, i: x[:, i.view(3, 1)] * 2), (x, i))
    assert left(edge) == ["aten.view_copy.default", "aten.index.Tensor"]
    check_values(Of(lambda x: x * 2), (x[:, i.view(3, 1)],))
    read = Of(lambda x, i: x.index_select(0, i.view(-1)) * 2)
    edge = lower(read, (x, i.view(3, 1)), operator_blocklist=["aten.index_select.default"])
    assert left(edge) == ["aten.view_copy.default", "aten.index_select.default"]
