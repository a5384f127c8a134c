# SPDX-License-Identifier: BSD-3-Clause
"""Tensors of any dim order go in and out of delegates, and lie as those of the program without a backend do."""

from __future__ import annotations

from itertools import permutations
from typing import Any

import pytest
import torch
from torch import Tensor, nn
from torch.export import Dim

from executorch.backends.vulkan.test.lowered import (
    check_values,
    delegates,
    left,
    lower,
    method_on_device,
)
from executorch.exir import to_edge_transform_and_lower
from executorch.runtime import Runtime

SIZES = (2, 3, 4, 5)
HALF = {"force_fp16": True}
LAST = {"memory_format": torch.channels_last}


def laid(x: Tensor, order: tuple[int, ...]) -> Tensor:
    """The same tensor; in memory its dimensions follow each other as `order` says."""
    found = torch.empty_permuted(x.shape, order)
    return found.copy_(x)


def of_every_order(rows: int = SIZES[0]) -> tuple[Tensor, ...]:
    generator = torch.Generator().manual_seed(rows)
    orders = [*permutations(range(4))]
    return tuple(
        laid(torch.randn((rows, *SIZES[1:]), generator=generator), each) for each in orders
    )


class Each(nn.Module):
    """What keeps the order, what has one of its own, and what depends on it if anything is wrong."""

    def __init__(self) -> None:
        super().__init__()
        self.conv, self.norm = nn.Conv2d(3, 4, 3, padding=1), nn.LayerNorm(5)

    def forward(self, *images: Tensor) -> list[Tensor]:
        return [
            result
            for x in images
            for result in (
                x * 2 + 1, self.conv(x).relu(), x.softmax(1), self.norm(x), x.sum(2),
                x.flatten(1), x.permute(0, 2, 3, 1), torch.cat([x, x.flip(3)], 1),
            )
        ]  # fmt: skip


class Orders(nn.Module):
    """Orders that are asked for inside."""

    def __init__(self) -> None:
        super().__init__()
        self.conv = nn.Conv2d(3, 4, 3)

    def forward(self, x: Tensor, y: Tensor) -> tuple[Tensor, ...]:
        last = x.to(**LAST)
        return last, self.conv(last), y.contiguous() + x, y.clone(**LAST), last.int()


class Sums(nn.Module):
    """A weight and a buffer that is written, channels last as `module.to(memory_format=...)` leaves them."""

    def __init__(self) -> None:
        super().__init__()
        self.weight = nn.Parameter(torch.randn(SIZES))
        self.register_buffer("total", torch.randn(SIZES))

    def forward(self, x: Tensor) -> Tensor:
        self.total.add_(x)
        return self.total * self.weight


def check_on_device(
    model: nn.Module, runs: list[tuple[Tensor, ...]], options: dict[str, Any] | None = None,
    dynamic_shapes: Any = None, atol: float = 1e-5,
) -> list[tuple[int, ...]]:  # fmt: skip
    """One delegate, eager's values, and the orders of the same program on the CPU's kernels, which are returned."""
    edge = lower(model, runs[0], options, dynamic_shapes)
    assert not left(edge) and len(delegates(edge)) == 1
    device = method_on_device(edge)
    exported = torch.export.export(model, runs[0], dynamic_shapes=dynamic_shapes)
    plain = to_edge_transform_and_lower(exported).to_executorch().buffer
    kernels = Runtime.get().load_program(plain).load_method("forward")
    for inputs in runs:
        expected = [each.clone() for each in kernels.execute(list(inputs))]
        found = device.execute(list(inputs))
        for one, other, eager in zip(found, expected, model(*inputs), strict=True):
            assert one.dim_order() == other.dim_order()
            torch.testing.assert_close(one, eager, atol=atol, rtol=1e-3, check_stride=False)
    return [each.dim_order() for each in found]


needs_device = pytest.mark.skipif(
    not Runtime.get().backend_registry.is_available("VulkanBackend"),
    reason="this build has no Vulkan backend, or no device is here",
)


@needs_device
@pytest.mark.req("VK-001", "VK-004")
@pytest.mark.parametrize(("options", "atol"), [(None, 1e-5), (HALF, 1e-2)], ids=["float", "half"])
def test_inputs_and_results_of_every_order(options: dict[str, Any] | None, atol: float) -> None:
    check_on_device(Each(), [of_every_order()], options, atol=atol)


@needs_device
@pytest.mark.req("VK-012")
def test_sizes_that_change_in_other_orders() -> None:
    rows = {0: Dim("rows", min=2, max=6)}
    runs = [of_every_order(count)[::3] for count in (4, 2, 6, 3)]
    check_on_device(Each(), runs, dynamic_shapes=((rows,) * len(runs[0]),))


@needs_device
@pytest.mark.req("VK-001")
def test_orders_that_are_asked_for_inside() -> None:
    model, inputs = Orders(), (torch.randn(SIZES), torch.randn(SIZES).to(**LAST))
    orders = check_on_device(model, [inputs])
    assert orders == [each.dim_order() for each in model(*inputs)]


def test_weights_and_buffers_that_are_channels_last() -> None:
    torch.manual_seed(0)
    model = Sums().to(**LAST)
    assert model.total.dim_order() == model.weight.dim_order() == (0, 2, 3, 1)
    x = torch.randn(SIZES)
    edge = lower(model, (x,))
    assert not left(edge) and len(delegates(edge)) == 1
    check_values(model, (x,), edge, runs=[(x,), (x + 1,)])
    conv = nn.Conv2d(3, 4, 3).to(**LAST)
    edge = check_values(conv, (x.to(**LAST),))
    assert not left(edge) and len(delegates(edge)) == 1
