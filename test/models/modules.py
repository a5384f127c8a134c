# SPDX-License-Identifier: BSD-3-Clause
"""Modules for test programs: each knows its example inputs, its methods and its dynamic sizes."""

from __future__ import annotations

from typing import Any

import torch
from torch import nn
from torch.export import Dim


class TestModule(nn.Module):
    """`methods`: names of the methods exported; `dynamic_shapes`: as torch.export takes them."""

    __test__ = False  # not a test case
    methods: tuple[str, ...] = ("forward",)
    dynamic_shapes: Any = None

    def example_inputs(self) -> tuple[torch.Tensor, ...]:
        raise NotImplementedError


class ModuleAdd(TestModule):
    def forward(self, x: torch.Tensor, y: torch.Tensor, alpha: float) -> torch.Tensor:
        return torch.add(x, y, alpha=alpha)

    def example_inputs(self) -> tuple[Any, ...]:
        return (torch.ones(2, 2), torch.ones(2, 2), 1.0)


class ModuleAddMul(TestModule):
    """A constant factor and a constant summand: y = a @ x + b."""

    def __init__(self) -> None:
        super().__init__()
        self.a = nn.Parameter(torch.full((2, 2), 3.0), requires_grad=False)
        self.b = nn.Parameter(torch.full((2, 2), 2.0), requires_grad=False)

    def forward(self, x: torch.Tensor) -> torch.Tensor:
        return torch.mm(self.a, x) + self.b

    def example_inputs(self) -> tuple[torch.Tensor, ...]:
        return (torch.ones(2, 2),)


class ModuleLinear(TestModule):
    def __init__(self) -> None:
        super().__init__()
        generator = torch.Generator().manual_seed(0)
        self.linear = nn.Linear(3, 3)
        for parameter in self.linear.parameters():
            parameter.data = torch.randn(parameter.shape, generator=generator)
            parameter.requires_grad_(False)

    def forward(self, x: torch.Tensor) -> torch.Tensor:
        return self.linear(x)

    def example_inputs(self) -> tuple[torch.Tensor, ...]:
        return (torch.ones(3),)


class ModuleMultipleEntry(TestModule):
    methods = ("forward", "forward2")

    def __init__(self) -> None:
        super().__init__()
        self.a = nn.Parameter(torch.full((2, 2), 3.0), requires_grad=False)
        self.b = nn.Parameter(torch.full((2, 2), 2.0), requires_grad=False)

    def forward(self, x: torch.Tensor) -> torch.Tensor:
        return x + self.a

    def forward2(self, x: torch.Tensor) -> torch.Tensor:
        return x + self.a + self.b

    def example_inputs(self) -> tuple[torch.Tensor, ...]:
        return (torch.ones(2, 2),)


class ModuleDynamicCat(TestModule):
    dynamic_shapes = ({0: Dim("rows", min=1, max=16)},)

    def forward(self, x: torch.Tensor) -> torch.Tensor:
        return torch.cat([x, x * 2], 1)

    def example_inputs(self) -> tuple[torch.Tensor, ...]:
        return (torch.ones(3, 4),)


class ModuleStateful(TestModule):
    """A buffer that starts at 5 and grows by the input."""

    def __init__(self) -> None:
        super().__init__()
        self.register_buffer("state", torch.full((2, 2), 5.0))

    def forward(self, x: torch.Tensor) -> torch.Tensor:
        self.state.add_(x)
        return self.state * 1.0

    def example_inputs(self) -> tuple[torch.Tensor, ...]:
        return (torch.ones(2, 2),)


class ModuleKVCacheCachePos(TestModule):
    """Writes a row of a cache at a position given as data; reads the whole cache."""

    def __init__(self) -> None:
        super().__init__()
        self.register_buffer("cache", torch.zeros(1, 8, 4))

    def forward(self, position: torch.Tensor, row: torch.Tensor) -> torch.Tensor:
        self.cache.index_copy_(1, position, row)
        return self.cache + 0.0

    def example_inputs(self) -> tuple[torch.Tensor, ...]:
        return (torch.tensor([2]), torch.ones(1, 1, 4))


MODULES: dict[str, type[TestModule]] = {
    module.__name__: module
    for module in (
        ModuleAdd,
        ModuleAddMul,
        ModuleDynamicCat,
        ModuleKVCacheCachePos,
        ModuleLinear,
        ModuleMultipleEntry,
        ModuleStateful,
    )
}
