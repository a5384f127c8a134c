# SPDX-License-Identifier: BSD-3-Clause
"""SkeletonBackend: what it takes and what it leaves, and its numbers beside PyTorch's."""

import pytest
import skeleton
import torch
from skeleton.aot.partitioner import SkeletonPartitioner

from executorch.exir import to_edge_transform_and_lower
from executorch.exir.backend.utils import get_delegates
from executorch.runtime import Runtime


class Model(torch.nn.Module):
    def __init__(self) -> None:
        super().__init__()
        self.scale = torch.nn.Parameter(torch.randn(2, 3))

    def forward(self, x: torch.Tensor, y: torch.Tensor) -> torch.Tensor:
        return torch.sin((x + y) * self.scale) + y


def lowered(model: torch.nn.Module, inputs: tuple[torch.Tensor, ...]):
    return to_edge_transform_and_lower(
        torch.export.export(model.eval(), inputs), partitioner=[SkeletonPartitioner()]
    )


@pytest.fixture(autouse=True)
def registered() -> None:
    skeleton.load()


def test_a_program_gives_the_numbers_of_pytorch() -> None:
    model, inputs = Model(), (torch.randn(2, 3), torch.randn(2, 3))
    edge = lowered(model, inputs)
    # One before and one after sin, which no row takes.
    assert len(get_delegates(edge.exported_program().graph)) == 2
    method = Runtime.get().load_program(edge.to_executorch().buffer).load_method("forward")
    (found,) = method.execute(inputs)
    torch.testing.assert_close(found, model(*inputs))


def test_what_no_row_takes_stays_outside() -> None:
    edge = lowered(Model(), (torch.randn(2, 3).double(), torch.randn(2, 3).double()))
    assert not get_delegates(edge.exported_program().graph)
