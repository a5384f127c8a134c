# SPDX-License-Identifier: BSD-3-Clause
"""Delegates of which kernels of ours compute some nodes, between parts that XNNPACK runs: convolutions by Winograd's
algorithm, wherever they stand in a graph. Expected are eager's numbers, and infinities that spread as only the
algorithm spreads them."""

from __future__ import annotations

from collections.abc import Callable

import pytest
import torch
from torch import nn

from executorch.backends.xnnpack import XnnpackPartitioner
from executorch.backends.xnnpack.test.needs_runtime import needs_runtime
from executorch.exir import to_edge_transform_and_lower
from executorch.runtime import Method, Runtime

pytestmark = needs_runtime


def conv(inputs: int = 32, outputs: int = 32) -> nn.Conv2d:
    return nn.Conv2d(inputs, outputs, 3, padding=1)


class Residual(nn.Module):
    """Two of them in a row, a sum of what the first reads and the second writes, with and without bounds."""

    def __init__(self) -> None:
        super().__init__()
        self.first, self.second = conv(), conv()

    def forward(self, x: torch.Tensor) -> torch.Tensor:
        return (x + self.second(self.first(x).relu())).clamp(-0.5, 6)


class Shared(nn.Module):
    """One filter for two nodes, the first of which is an output, too."""

    def __init__(self) -> None:
        super().__init__()
        self.layer = conv()

    def forward(self, x: torch.Tensor) -> tuple[torch.Tensor, torch.Tensor]:
        first = self.layer(x)
        return first, self.layer(first)


class Branches(nn.Module):
    """Beside a convolution that XNNPACK computes and a matrix that its first run does not pack."""

    def __init__(self) -> None:
        super().__init__()
        self.left, self.right = conv(32, 48), nn.Conv2d(32, 48, 3, 2, padding=1)
        self.matrix = nn.Linear(48, 2048)

    def forward(self, x: torch.Tensor) -> torch.Tensor:
        left = nn.functional.max_pool2d(self.left(x), 2)
        return self.matrix((left + self.right(x)).mean((2, 3)))


NETWORKS: dict[str, tuple[Callable[[], nn.Module], int]] = {
    "alone": (conv, 1),
    "residual": (Residual, 2),
    "shared": (Shared, 2),
    "branches": (Branches, 1),
    "uneven": (lambda: nn.Sequential(conv(19, 50), nn.ReLU6(), conv(50, 33)), 2),
}


def lowered(module: nn.Module, x: torch.Tensor, **options: object) -> bytes:
    exported = torch.export.export(module.eval(), (x,), **options)
    manager = to_edge_transform_and_lower(exported, partitioner=[XnnpackPartitioner()])
    return manager.to_executorch().buffer


def loaded(data: bytes, **options: bool | int) -> Method:
    program = Runtime.get().load_program(data, backend_options={"XnnpackBackend": options})
    return program.load_method("forward")


def check(method: Method, module: nn.Module, x: torch.Tensor) -> None:
    with torch.no_grad():
        expected = module(x)
    expected = expected if isinstance(expected, tuple) else (expected,)
    for found, wanted in zip(method.execute([x]), expected, strict=True):
        torch.testing.assert_close(found, wanted, rtol=2e-5, atol=2e-5)


@pytest.mark.parametrize("name", NETWORKS)
def test_numbers_are_eagers(name: str) -> None:
    """In three runs, with the whole process' packed weights and without, cut elsewhere, too; and as sums."""
    torch.manual_seed(0)
    module = NETWORKS[name][0]()
    channels = 19 if name == "uneven" else 32
    x = torch.randn(1, channels, 16, 14)
    data = lowered(module, x)
    for options in (
        {},
        {"weight_cache_enabled": False},
        {"segment_nodes": 1},
        {"winograd_enabled": False},
    ):
        method = loaded(data, **options)
        for _ in range(3):
            check(method, module, torch.randn_like(x))


def test_sizes_change_with_each_run() -> None:
    torch.manual_seed(0)
    module = Residual()
    sizes = {
        2: torch.export.Dim("height", min=4, max=40),
        3: torch.export.Dim("width", min=4, max=40),
    }
    method = loaded(lowered(module, torch.randn(1, 32, 16, 14), dynamic_shapes=(sizes,)))
    for height, width in ((16, 14), (5, 4), (40, 33), (16, 14)):
        check(method, module, torch.randn(1, 32, height, width))


def test_halves_are_rounded_at_arguments_alone() -> None:
    """Where the processor computes in float32 what the model has in half precision."""
    torch.manual_seed(0)
    module, x = (
        nn.Sequential(conv(), nn.ReLU(), conv(), nn.ReLU(), conv()),
        torch.randn(1, 32, 12, 12),
    )
    found = loaded(lowered(module.half(), x.half())).execute([x.half()])[0]
    with torch.no_grad():
        expected = module.float()(x.half().float())
    torch.testing.assert_close(found.float(), expected, rtol=2e-3, atol=2e-3)


@pytest.mark.parametrize("name", NETWORKS)
def test_the_kernel_of_ours_computes_it(name: str) -> None:
    """An infinite pixel makes NaN of the tiles that it is in; as sums, it stays what it is."""
    torch.manual_seed(0)
    module = NETWORKS[name][0]()
    for each in module.modules():
        if isinstance(each, nn.Conv2d):
            each.weight.data.abs_()  # no window has infinities of both signs
    x = torch.randn(1, 19 if name == "uneven" else 32, 16, 14)
    data = lowered(module, x)
    x[0, 3, 6, 7] = float("inf")
    assert loaded(data).execute([x])[0].isnan().any()
    assert (
        not loaded(data, winograd_enabled=False).execute([x])[0].isnan().any() or name == "branches"
    )
