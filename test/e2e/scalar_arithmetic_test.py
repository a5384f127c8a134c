# SPDX-License-Identifier: BSD-3-Clause
"""Arithmetic on numbers that come out of tensors: Python's rules, negative ones too."""

import itertools

import pytest
import torch

from executorch.exir import to_edge
from executorch.runtime import Runtime


class Remainder(torch.nn.Module):
    def forward(self, a: torch.Tensor, b: torch.Tensor) -> torch.Tensor:
        return torch.full((1,), a.item() % b.item(), dtype=torch.int64)


class Columns(torch.nn.Module):
    def forward(self, x: torch.Tensor) -> torch.Tensor:
        return x + x.shape[1] % 3


def test_a_remainder_has_the_sign_of_its_divisor() -> None:
    numbers = [torch.tensor(n) for n in (7, -7, 3, -3, 1)]
    program = torch.export.export(Remainder(), (numbers[0], numbers[2]))
    method = (
        Runtime.get().load_program(to_edge(program).to_executorch().buffer).load_method("forward")
    )
    for a, b in itertools.product(numbers, repeat=2):
        assert method.execute([a, b])[0].item() == a.item() % b.item()


@pytest.mark.parametrize("columns", [3, 4, 5, 9])
def test_a_remainder_of_sizes_is_one_operator(columns: int) -> None:
    shapes = {"x": {1: torch.export.Dim("n", min=3, max=9)}}
    program = torch.export.export(Columns(), (torch.ones(2, 5),), dynamic_shapes=shapes)
    manager = to_edge(program).to_executorch()
    operators = [op.name for op in manager.executorch_program.execution_plan[0].operators]
    assert "executorch_prim::mod" in operators and "executorch_prim::floordiv" not in operators
    method = Runtime.get().load_program(manager.buffer).load_method("forward")
    x = torch.randn(2, columns)
    assert torch.equal(method.execute([x])[0], Columns()(x))
