# SPDX-License-Identifier: BSD-3-Clause
"""my_ops::skeleton: the kernel beside PyTorch, and what PyTorch asks of an operator."""

import pytest
import skeleton  # noqa: F401  defines the operator
import torch
from skeleton import kernels

from executorch.exir import to_edge
from executorch.runtime import Runtime


class Model(torch.nn.Module):
    def forward(self, x: torch.Tensor) -> torch.Tensor:
        return torch.ops.my_ops.skeleton(x, 2.0) + 1


@pytest.fixture(autouse=True)
def registered() -> None:
    kernels.load()


def run(x: torch.Tensor, *calls: torch.Tensor, **export) -> list[torch.Tensor]:
    program = to_edge(torch.export.export(Model(), (x,), **export)).to_executorch()
    method = Runtime.get().load_program(program.buffer).load_method("forward")
    return [method.execute([each])[0].clone() for each in (calls or (x,))]


@pytest.mark.parametrize("sizes", [(2, 3), (), (0, 4), (1, 2, 3, 4)])
def test_the_kernel_gives_the_numbers_of_pytorch(sizes: tuple[int, ...]) -> None:
    x = 10 * torch.randn(sizes)
    torch.testing.assert_close(run(x)[0], Model()(x))


def test_infinities_and_nan_are_pytorchs() -> None:
    x = torch.tensor([float("inf"), -float("inf"), float("nan"), -0.0, 1e-40, 3e38])
    torch.testing.assert_close(run(x)[0], Model()(x), equal_nan=True)


def test_channels_last_stays_channels_last() -> None:
    x = torch.randn(1, 2, 3, 4).to(memory_format=torch.channels_last)
    torch.testing.assert_close(run(x)[0], Model()(x))


def test_sizes_may_vary() -> None:
    calls = [torch.randn(rows, 3) for rows in (4, 1, 9)]
    shapes = ({0: torch.export.Dim("rows", min=1, max=9)},)
    for found, x in zip(run(calls[0], *calls, dynamic_shapes=shapes), calls, strict=True):
        torch.testing.assert_close(found, Model()(x))


def test_the_operator_keeps_the_rules_of_pytorch() -> None:
    for x in (torch.randn(2, 3), torch.randn(3, 2).t()):
        torch.library.opcheck(torch.ops.my_ops.skeleton.default, (x, 2.0))


def test_other_dtypes_are_refused_at_export() -> None:
    with pytest.raises(Exception, match="expected float32"):
        torch.export.export(Model(), (torch.ones(2, dtype=torch.int32),))
