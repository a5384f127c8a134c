# SPDX-License-Identifier: BSD-3-Clause
"""Masks as indices, from a model to its numbers: how many elements there are is known when the program runs."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import pytest
import torch
from torch import nn

from executorch.backends.xnnpack import XnnpackPartitioner
from executorch.exir import to_edge_transform_and_lower
from executorch.extension.pybindings.portable_lib import _load_for_executorch_from_buffer

A, B, C = torch.randn(3, 4), torch.randn(3, 4, 2), torch.randn(2, 3, 4)
MASK, ROWS, COLUMNS = torch.rand(3, 4) > 0.5, torch.rand(3) > 0.5, torch.rand(4) > 0.5


class Call(nn.Module):
    def __init__(self, function: Callable[..., torch.Tensor]) -> None:
        super().__init__()
        self.function = function

    def forward(self, *inputs: torch.Tensor) -> torch.Tensor:
        return self.function(*inputs)


def _written(x: torch.Tensor, mask: torch.Tensor, value: Any) -> torch.Tensor:
    copy = x.clone()
    copy[mask] = value
    return copy


CASES: dict[str, tuple[Callable[..., torch.Tensor], tuple[torch.Tensor, ...]]] = {
    "where_positive": (lambda x: x[x > 0], (A,)),
    "where_positive_of_three": (lambda x: x[x > 0], (B,)),
    "two_of_three_dimensions": (lambda x, m: x[m], (B, MASK)),
    "last_two_dimensions": (lambda x, m: x[:, m], (C, MASK)),
    "rows": (lambda x, m: x[m], (A, ROWS)),
    "columns": (lambda x, m: x[:, m], (A, COLUMNS)),
    "masked_select": (lambda x: torch.masked_select(x, x > 0), (A,)),
    "sum_of_some": (lambda x: x[x > 0].sum(), (A,)),
    "computed_further": (lambda x: torch.relu(x[x > -1] * 2 + 1), (A,)),
    "put": (lambda x, m, v: torch.index_put(x, (m,), v), (A, MASK, torch.tensor(5.0))),
    "put_rows": (lambda x, m, v: torch.index_put(x, (m,), v), (B, MASK, torch.randn(2))),
    "added": (lambda x, m: torch.index_put(x, (m,), x.sum(), accumulate=True), (A, MASK)),
    "assigned": (lambda x, m: _written(x, m, -1.0), (A, MASK)),
    "assigned_rows": (lambda x, m, v: _written(x, m, v), (B, MASK, torch.randn(2))),
}


@pytest.mark.parametrize("delegated", [False, True])
@pytest.mark.parametrize("name", CASES)
def test_masks_select_and_write_what_eager_does(name: str, delegated: bool) -> None:
    function, inputs = CASES[name]
    exported = torch.export.export(Call(function), inputs)
    partitioner = [XnnpackPartitioner()] if delegated else []
    manager = to_edge_transform_and_lower(exported, partitioner=partitioner)
    program = _load_for_executorch_from_buffer(manager.to_executorch().buffer)
    for share, offset in ((0.5, 0.0), (0.0, -9.0), (1.0, 9.0), (0.2, 0.0)):  # none and all, too
        values = tuple(
            torch.rand(each.shape) < share
            if each.dtype == torch.bool
            else torch.randn(each.shape) + offset
            for each in inputs
        )
        torch.testing.assert_close(program.forward(values)[0], function(*values))
