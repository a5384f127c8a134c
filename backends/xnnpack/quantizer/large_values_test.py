# SPDX-License-Identifier: BSD-3-Clause
"""Huge fills and masks take no 8-bit range, whichever operator makes them; what is bounded again is 8-bit."""

from __future__ import annotations

from collections.abc import Callable

import pytest
import torch
import torch.nn.functional as F
from torch import nn
from torch.fx import GraphModule
from torchao.quantization.pt2e.quantize_pt2e import convert_pt2e, prepare_pt2e

from executorch.backends.xnnpack.quantizer.xnnpack_quantizer import (
    XNNPACKQuantizer,
    get_symmetric_quantization_config,
)

Function = Callable[[torch.Tensor, float], torch.Tensor]
HUGE, SMALL = -1e5, -0.5
SIZE = 8


def converted(model: nn.Module, x: torch.Tensor) -> GraphModule:
    config = get_symmetric_quantization_config(is_per_channel=True)
    captured = torch.export.export(model.eval(), (x,)).module()
    prepared = prepare_pt2e(captured, XNNPACKQuantizer().set_global(config))
    prepared(x)
    return convert_pt2e(prepared)


def steps_of_ranges(model: GraphModule) -> list[float]:
    """The scale of each activation that is stored in 8 bits."""
    return [n.args[1] for n in model.graph.nodes if ".quantize_per_tensor" in str(n.target)]


def is_8_bit(model: GraphModule, layer: str) -> bool:
    (node,) = (n for n in model.graph.nodes if n.name == layer)
    return "dequantize_per_tensor" in node.args[0].name


class Filled(nn.Module):
    """What `fill` makes of a layer's result is added to that, for the next layer."""

    def __init__(self, fill: Function, number: float) -> None:
        super().__init__()
        self.fill, self.number = fill, number
        self.first, self.last = nn.Linear(SIZE, SIZE), nn.Linear(SIZE, SIZE)

    def forward(self, x: torch.Tensor) -> torch.Tensor:
        x = self.first(x)
        return self.last(x + self.fill(x, self.number))


FILLS: dict[str, Function] = {
    "add": lambda x, number: x + number,
    "sub": lambda x, number: x - number,
    "mul": lambda x, number: x * number,
    "constant_pad_nd": lambda x, number: torch.constant_pad_nd(x[:, 1:], [1, 0], number),
    "pad": lambda x, number: F.pad(x[:, 1:], [1, 0], value=number),
    "full": lambda x, number: torch.full((SIZE,), number),
    "full_like": lambda x, number: torch.full_like(x, number),
    "masked_fill": lambda x, number: x.masked_fill(x > 0.5, number),
    "where": lambda x, number: torch.where(x > 0.5, x, number),
    "moved since": lambda x, number: torch.full((SIZE, 1), number).triu().transpose(0, 1),
}


@pytest.mark.parametrize("name", FILLS)
def test_no_range_holds_a_huge_fill(name: str) -> None:
    torch.manual_seed(0)
    x = torch.randn(4, SIZE)
    found = converted(Filled(FILLS[name], HUGE), x)
    assert is_8_bit(found, "linear") and not is_8_bit(found, "linear_1")
    assert max(steps_of_ranges(found)) < 1
    assert is_8_bit(converted(Filled(FILLS[name], SMALL), x), "linear_1")  # the fill is the reason


class Stored(nn.Module):
    """A mask that is a constant of the model."""

    def __init__(self, number: float) -> None:
        super().__init__()
        self.register_buffer("mask", torch.full((SIZE, SIZE), number).triu(1))
        self.first, self.last = nn.Linear(SIZE, SIZE), nn.Linear(SIZE, SIZE)

    def forward(self, x: torch.Tensor) -> torch.Tensor:
        return self.last(self.first(x) + self.mask[:4])


def test_no_range_holds_a_stored_mask() -> None:
    x = torch.randn(4, SIZE)
    found = converted(Stored(HUGE), x)
    assert not is_8_bit(found, "linear_1") and max(steps_of_ranges(found)) < 1
    assert is_8_bit(converted(Stored(SMALL), x), "linear_1")


Bound = Callable[["Bounded", torch.Tensor], torch.Tensor]


class Bounded(nn.Module):
    """Huge values, what `bound` makes of them, and a layer."""

    def __init__(self, bound: Bound) -> None:
        super().__init__()
        self.bound, self.last = bound, nn.Linear(SIZE, SIZE)
        self.kernel = nn.Parameter(torch.randn(SIZE, SIZE, *[1] * 3) * 1e-5)

    def forward(self, x: torch.Tensor) -> torch.Tensor:
        return self.last(self.bound(self, x * HUGE))


def convolved(by: str) -> Bound:
    """x of (4, SIZE) as images of one pixel."""
    dims = int(by[4])

    def convolve(self: Bounded, x: torch.Tensor) -> torch.Tensor:
        kernel = self.kernel.view(SIZE, SIZE, *[1] * dims)
        return getattr(F, by)(x.view(4, SIZE, *[1] * dims), kernel).flatten(1)

    return convolve


BOUNDS: dict[str, Bound] = {
    "batch_norm": lambda self, x: F.batch_norm(x, torch.zeros(SIZE), torch.full((SIZE,), 1e9)),
    "conv1d": convolved("conv1d"),
    "conv2d": convolved("conv2d"),
    "conv3d": convolved("conv3d"),
    "layer_norm": lambda self, x: F.layer_norm(x, (SIZE,)),
    "linear": lambda self, x: F.linear(x, self.kernel.view(SIZE, SIZE)),
    "matmul": lambda self, x: x @ x.transpose(0, 1).repeat(1, 2).softmax(-1),
    "bmm": lambda self, x: torch.bmm(x[None], x.tanh().reshape(1, SIZE, 4).repeat(1, 1, 2))[0],
    "scaled_dot_product_attention": lambda self, x: F.scaled_dot_product_attention(x, x, x),
    "sigmoid": lambda self, x: x.sigmoid(),
    "softmax": lambda self, x: x.softmax(-1),
    "tanh": lambda self, x: x.tanh(),
}


@pytest.mark.parametrize("name", BOUNDS)
def test_what_is_bounded_again_is_8_bit(name: str) -> None:
    torch.manual_seed(0)
    found = converted(Bounded(BOUNDS[name]), torch.randn(4, SIZE))
    last = [n.name for n in found.graph.nodes if n.name.startswith("linear")][-1]
    assert is_8_bit(found, last)


def test_what_is_not_bounded_stays_float() -> None:
    found = converted(Bounded(lambda self, x: x), torch.randn(4, SIZE))
    assert not is_8_bit(found, "linear") and not steps_of_ranges(found)


class Sliced(nn.Module):
    """Sizes and ends of slices are large numbers, too, but no values."""

    def __init__(self) -> None:
        super().__init__()
        self.first, self.last = nn.Linear(SIZE, SIZE), nn.Linear(SIZE // 2, SIZE)

    def forward(self, x: torch.Tensor) -> torch.Tensor:
        return self.last(self.first(x)[:, SIZE // 2 :])


class Offset(nn.Module):
    """Numbers of rows are no values either."""

    def __init__(self) -> None:
        super().__init__()
        self.table, self.last = nn.Embedding(20_010, SIZE), nn.Linear(SIZE, SIZE)

    def forward(self, ids: torch.Tensor) -> torch.Tensor:
        return self.last(self.table(ids + 20_000))


def test_large_places_are_no_values() -> None:
    for model, x, layer in (
        (Sliced(), torch.randn(4, SIZE), "linear_1"),
        (Offset(), torch.arange(4), "linear"),
    ):
        assert is_8_bit(converted(model, x), layer)
