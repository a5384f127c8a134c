# SPDX-License-Identifier: BSD-3-Clause
"""Sums along stacks become additions, and only those."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import pytest
import torch
from torch import nn
from torch.export import ExportedProgram

from executorch.exir import to_edge
from executorch.exir.graph_facts import op_name
from executorch.exir.passes.sum_stacks_pass import sum_stacks_pass
from executorch.exir.program_copies import own_copy

A, B = torch.randn(2, 3, 5, 5), torch.randn(2, 3, 5, 5)
WEIGHTS, SCALE = torch.rand(2, 2, 3, 1, 1), torch.rand(2, 1, 3, 1, 1)
GONE = {"aten.cat.default", "aten.sum.dim_IntList"}


class Call(nn.Module):
    def __init__(self, function: Callable[..., Any]) -> None:
        super().__init__()
        self.function = function

    def forward(self, *args: torch.Tensor) -> Any:
        return self.function(*args)


def operators(function: Callable[..., Any], *inputs: torch.Tensor, **how: Any) -> list[str]:
    """After the pass, which computes the same."""
    exported: ExportedProgram = torch.export.export(Call(function), inputs, **how)
    program = own_copy(to_edge(exported).exported_program())
    sum_stacks_pass(program.graph_module)
    program.graph_module.recompile()
    torch.testing.assert_close(program.module()(*inputs), function(*inputs))
    for node in program.graph.nodes:
        if op_name(node):
            value = node.target(*_values(node.args), **node.kwargs)
            assert value.shape == node.meta["val"].shape and value.dtype == node.meta["val"].dtype
    return [name for node in program.graph.nodes if (name := op_name(node))]


def _values(args: Any) -> Any:
    return torch.fx.node.map_arg(args, lambda node: node.meta["val"])


@pytest.mark.parametrize("keepdim", [False, True])
@pytest.mark.parametrize("dim", [0, 1, 2, -1])
def test_a_sum_along_a_stack_is_an_addition(dim: int, keepdim: bool) -> None:
    names = operators(lambda a, b: torch.stack([a, b, a * 2], dim).sum(dim, keepdim), A, B)
    assert not GONE & set(names) and names.count("aten.add.Tensor") == 2


@pytest.mark.parametrize(
    "weigh",
    [
        lambda stack, *w: stack * w[0],
        lambda stack, *w: w[0] * stack,
        lambda stack, *w: stack * w[1],
        lambda stack, *w: stack * w[2],
    ],
    ids=["one each", "one each, first", "one for all", "no such dimension"],
)
def test_weights_go_to_what_they_weigh(weigh: Callable[..., torch.Tensor]) -> None:
    def joined(a: torch.Tensor, b: torch.Tensor, *w: torch.Tensor) -> torch.Tensor:
        return weigh(torch.stack([a, b], 1), *w).sum(1)

    names = operators(joined, A, B, WEIGHTS, SCALE, torch.rand(5))
    assert not GONE & set(names) and names.count("aten.mul.Tensor") == 2


def test_selective_kernels() -> None:
    def unit(a: torch.Tensor, b: torch.Tensor) -> torch.Tensor:
        both = torch.stack([a, b], dim=1)
        weights = torch.softmax(both.sum(1).mean((2, 3)).repeat(1, 2).view(2, 2, 3, 1, 1), dim=1)
        return (both * weights).sum(dim=1)

    assert not {"aten.sum.dim_IntList"} & set(operators(unit, A, B))


def test_sizes_that_vary() -> None:
    size = torch.export.Dim("size", max=9)
    how = {"dynamic_shapes": (({2: size}, {2: size}),)}
    names = operators(lambda a, b: torch.stack([a, b], 1).sum(1), A, B, **how)
    assert not GONE & set(names)


@pytest.mark.parametrize(
    "function",
    [
        lambda a, b: torch.stack([a, b], 1).sum((1, 2)),
        lambda a, b: torch.stack([a, b], 1).sum(2),
        lambda a, b: torch.cat([a, b], 1).sum(1),
        lambda a, b: torch.cat([a, b], 1).view(2, 3, 2, 5, 5).sum(1),
        lambda a, b: torch.stack([a, b], 1).sum(1, dtype=torch.float64),
        lambda a, b: torch.stack([a > 0, b > 0], 1).sum(1),
        lambda a, b: torch.stack([a] * 9, 1).sum(1),
        lambda a, b: a[0, 0, 0, 0].sum(0) + b,
    ],
    ids=["two", "another", "no stack", "no parts", "wider", "counts", "many", "a number"],
)
def test_other_sums_stay(function: Callable[..., torch.Tensor]) -> None:
    assert "aten.sum.dim_IntList" in operators(function, A, B)


def test_a_product_that_others_read_is_computed_once() -> None:
    def twice(a: torch.Tensor, b: torch.Tensor, w: torch.Tensor) -> Any:
        weighed = torch.stack([a, b], 1) * w
        return weighed.sum(1), weighed.amax(1)

    names = operators(twice, A, B, WEIGHTS)
    assert names.count("aten.mul.Tensor") == 1 and "aten.sum.dim_IntList" in names
