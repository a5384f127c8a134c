# SPDX-License-Identifier: BSD-3-Clause
"""SkeletonBackend: what it takes and what the vendor refuses, and its numbers beside PyTorch's."""

import pytest
import skeleton
import torch
from skeleton.aot.options import CompilerOptions, SkeletonOptions
from skeleton.aot.partitioner import SkeletonPartitioner
from skeleton.aot.quantizer import SkeletonQuantizer
from torchao.quantization.pt2e.quantize_pt2e import convert_pt2e, prepare_pt2e

from executorch.exir import to_edge_transform_and_lower
from executorch.exir.backend.utils import get_delegates
from executorch.runtime import Runtime


class Model(torch.nn.Module):
    def __init__(self) -> None:
        super().__init__()
        self.scale = torch.nn.Parameter(torch.randn(2, 3))

    def forward(self, x: torch.Tensor, y: torch.Tensor) -> torch.Tensor:
        return torch.sin((x + y) * self.scale) + y


def lowered(model: torch.nn.Module, inputs: tuple[torch.Tensor, ...], **options: object):
    partitioner = SkeletonPartitioner(SkeletonOptions(**options))
    return to_edge_transform_and_lower(
        torch.export.export(model, inputs), partitioner=[partitioner]
    )


def run(edge, inputs: tuple[torch.Tensor, ...]) -> torch.Tensor:
    method = Runtime.get().load_program(edge.to_executorch().buffer).load_method("forward")
    return method.execute(inputs)[0].clone()


@pytest.fixture(autouse=True)
def registered() -> None:
    skeleton.load()


def test_a_program_gives_the_numbers_of_pytorch() -> None:
    model, inputs = Model().eval(), (torch.randn(2, 3), torch.randn(2, 3))
    edge = lowered(model, inputs)
    # One before and one after sin, which no row takes.
    assert len(get_delegates(edge.exported_program().graph)) == 2
    torch.testing.assert_close(run(edge, inputs), model(*inputs))


def test_what_the_vendor_refuses_stays_outside() -> None:
    inputs = (torch.randn(2, 3), torch.randn(2, 3))
    edge = lowered(Model().eval(), inputs, compiler=CompilerOptions(max_bytes=10))
    assert not get_delegates(edge.exported_program().graph)


def test_integers_are_those_of_the_quantized_model() -> None:
    x = (torch.randn(4, 8),)
    prepared = prepare_pt2e(
        torch.export.export(torch.nn.Linear(8, 3).eval(), x).module(), SkeletonQuantizer()
    )
    prepared(*x)
    converted = convert_pt2e(prepared)
    edge = lowered(converted, x)
    assert len(get_delegates(edge.exported_program().graph)) == 1
    largest = converted(*x).abs().max()
    torch.testing.assert_close(run(edge, x), converted(*x), rtol=0, atol=float(largest) / 2**14)
