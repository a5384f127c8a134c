# SPDX-License-Identifier: BSD-3-Clause
"""Expanded values go where operators broadcast, and nowhere else."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import pytest
import torch
from torch import nn
from torch.export import ExportedProgram

from executorch.exir import to_edge
from executorch.exir.graph_facts import op_name
from executorch.exir.passes.drop_expands_pass import drop_expands_pass
from executorch.exir.program_copies import own_copy

X, ROWS, NUMBER = torch.randn(4, 3, 5), torch.rand(4, 3, 1) + 1, torch.tensor(2.0)


class Call(nn.Module):
    def __init__(self, function: Callable[..., Any]) -> None:
        super().__init__()
        self.function = function

    def forward(self, *args: torch.Tensor) -> Any:
        return self.function(*args)


def without_expands(function: Callable[..., Any], *inputs: torch.Tensor, **how: Any) -> list[str]:
    program: ExportedProgram = torch.export.export(Call(function), inputs, **how)
    program = own_copy(to_edge(program).exported_program())
    drop_expands_pass(program.graph_module)
    program.graph_module.recompile()
    torch.testing.assert_close(program.module()(*inputs), function(*inputs))
    return [name for node in program.graph.nodes if (name := op_name(node))]


@pytest.mark.parametrize(
    "function",
    [
        lambda x, n: x / n.expand_as(x),
        lambda x, n: n.expand_as(x) - x,
        lambda x, n: torch.where(x > n.expand_as(x), x, n.expand_as(x)),
    ],
)
def test_operators_broadcast(function: Callable[..., Any]) -> None:
    assert "aten.expand_copy.default" not in without_expands(function, X, ROWS)


def test_normalized_rows_are_not_expanded() -> None:
    names = without_expands(lambda x: nn.functional.normalize(x, dim=-1), X)
    assert "aten.expand_copy.default" not in names


def test_sizes_that_vary() -> None:
    size = torch.export.Dim("size", max=9)
    how = {"dynamic_shapes": (({0: size}, {0: size}),)}
    names = without_expands(lambda x, n: x * n.expand_as(x), X, ROWS, **how)
    assert "aten.expand_copy.default" not in names


@pytest.mark.parametrize(
    "function, inputs",
    [
        (lambda n: n.expand(4, 3, 5) * 2, (ROWS,)),  # nothing else has the sizes of the result
        (lambda n: n.expand(4, 3, 5).contiguous(), (ROWS,)),
        (lambda n: n.expand(1, 1, *n.shape).neg(), (ROWS,)),  # nor the number of dimensions
        (lambda x, n: torch.cat([x, n.expand_as(x)]), (X, ROWS)),
        (
            lambda x, n: x * n.expand(4, 3, 5),
            (X.half(), NUMBER),
        ),  # as a number it would not make it float
    ],
)
def test_what_needs_the_sizes_keeps_them(
    function: Callable[..., Any], inputs: tuple[torch.Tensor, ...]
) -> None:
    assert "aten.expand_copy.default" in without_expands(function, *inputs)


def test_other_readers_keep_theirs() -> None:
    def both(x: torch.Tensor, n: torch.Tensor) -> Any:
        expanded = n.expand_as(x)
        return x * expanded, torch.cat([x, expanded])

    assert without_expands(both, X, ROWS).count("aten.expand_copy.default") == 1
