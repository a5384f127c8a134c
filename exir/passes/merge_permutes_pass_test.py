# SPDX-License-Identifier: BSD-3-Clause
"""Permutes after permutes: what is left of them, and that values stay what eager PyTorch gives."""

from __future__ import annotations

import random
from collections.abc import Callable

import pytest
import torch
from torch.export import Dim, export

from executorch.exir import ExecutorchBackendConfig, to_edge
from executorch.runtime import Runtime


class _Model(torch.nn.Module):
    def __init__(self, function: Callable[[torch.Tensor], object]) -> None:
        super().__init__()
        self.function = function

    def forward(self, x: torch.Tensor) -> object:
        return self.function(x)


def _permutes_left(function: Callable[[torch.Tensor], object], x: torch.Tensor) -> int:
    """Checks the results for two sizes of the first dimension; the number of permutes in the program."""
    shapes = ({0: Dim("rows", min=2, max=8)},)
    program = export(_Model(function), (x,), dynamic_shapes=shapes)
    config = ExecutorchBackendConfig(run_reinplace_pass=True)
    lowered = to_edge(program).to_executorch(config)
    method = Runtime.get().load_program(lowered.buffer).load_method("forward")
    for given in (x, x[:2].clone()):
        expected = function(given)
        expected = expected if isinstance(expected, tuple) else (expected,)
        for found, wanted in zip(method.execute([given.clone()]), expected, strict=True):
            torch.testing.assert_close(found, wanted, rtol=0, atol=0)
    nodes = lowered.exported_program().graph.nodes
    return sum("permute_copy" in str(node.target) for node in nodes)


_X = torch.arange(5 * 3 * 4, dtype=torch.float32).reshape(5, 3, 4)


@pytest.mark.parametrize(
    "left, function",
    [
        (0, lambda x: x.transpose(0, 1).transpose(0, 1) * 2),
        (1, lambda x: x.transpose(0, 1).transpose(1, 2) * 2),
        (0, lambda x: x.permute(2, 0, 1).permute(1, 2, 0) - 1),
        (1, lambda x: (x.transpose(-1, 0) + 1, x.transpose(-1, 0).transpose(0, 2) * 2)),
        (1, lambda x: x.transpose(0, 1).transpose(0, 1)),  # an output has memory of its own
        (0, lambda x: (x + 1).transpose(0, 2).transpose(0, 2).relu() + (x + 1)),
    ],
)
def test_what_is_left(left: int, function: Callable[[torch.Tensor], object]) -> None:
    assert _permutes_left(function, _X) <= left


@pytest.mark.parametrize("seed", range(8))
def test_chains_give_what_eager_gives(seed: int) -> None:
    draw = random.Random(seed)
    orders = [draw.sample(range(3), 3) for _ in range(draw.randint(2, 5))]

    def chain(x: torch.Tensor) -> torch.Tensor:
        x = x + 1
        for order in orders:
            x = x.permute(order)
        return x.clone(memory_format=torch.contiguous_format) * 2

    assert _permutes_left(chain, _X) <= 1
