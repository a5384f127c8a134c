# SPDX-License-Identifier: BSD-3-Clause
"""Images get their channels last where a call wants that, what follows stays so, and nobody outside sees it."""

from __future__ import annotations

import pytest
import torch
from torch import Tensor, nn
from torch.export import ExportedProgram, export
from torch.fx import Graph, Node
from torch.nn import functional as F

from executorch.exir import to_edge
from executorch.exir.backend.lowering.kernels.memory_order import (
    ChannelsLastPass,
    have_same_dim_order,
)
from executorch.exir.graph_facts import op_name

COPY = "dim_order_ops._clone_dim_order.default"
_Q = torch.ops.quantized_decomposed
NUMBERS = (0.1, 3, -128, 127, torch.int8)


def convolutions(graph: Graph) -> set[Node]:
    return {node for node in graph.nodes if op_name(node) == "aten.convolution.default"}


def turned(model: nn.Module, *inputs: Tensor) -> ExportedProgram:
    program = to_edge(export(model.eval(), inputs)).exported_program()
    ChannelsLastPass(convolutions)(program.graph_module)
    return program


def copies(program: ExportedProgram) -> list[torch.dtype]:
    nodes = program.graph.nodes
    return [node.meta["val"].dtype for node in nodes if op_name(node) == COPY]


class Branch(nn.Module):
    """Two convolutions, a sum with the input, a product by channel, a pool of rows, what is not of four dimensions."""

    def __init__(self) -> None:
        super().__init__()
        self.first, self.second = nn.Conv2d(3, 3, 3, padding=1), nn.Conv2d(3, 3, 1)

    def forward(self, x: Tensor) -> tuple[Tensor, ...]:
        y = F.relu(self.first(x))
        z = torch.cat([self.second(y) + x, y * x.mean((2, 3), keepdim=True)], 1)
        return z, z.flatten(1), x.sum(1)


def test_copies_are_where_orders_meet() -> None:
    x = torch.randn(2, 3, 4, 5)
    model = Branch()
    program = turned(model, x)
    assert len(copies(program)) == 2  # of the input, and of what the program gives and is flattened
    for found, wanted in zip(program.module()(x), model(x), strict=True):
        torch.testing.assert_close(found, wanted)
        assert found.stride() == wanted.stride()


@pytest.mark.parametrize("size", [(1, 3, 1, 1), (1, 1, 4, 5)])
def test_what_lies_the_same_in_both_is_not_copied(size: tuple[int, ...]) -> None:
    program = turned(nn.Conv2d(size[1], 2, 1), torch.randn(size))
    assert len(copies(program)) == (size[1] == 1)  # of its two channels


def test_images_that_have_them_last_stay() -> None:
    x = torch.randn(2, 3, 4, 5).to(memory_format=torch.channels_last)
    assert not copies(turned(nn.Conv2d(3, 2, 1).to(memory_format=torch.channels_last), x))


class Stored(nn.Module):
    def __init__(self) -> None:
        super().__init__()
        self.conv = nn.Conv2d(3, 2, 1)

    def forward(self, x: Tensor) -> Tensor:
        stored = _Q.quantize_per_tensor(x, *NUMBERS)
        made = self.conv(_Q.dequantize_per_tensor(stored, *NUMBERS))
        return _Q.dequantize_per_tensor(_Q.quantize_per_tensor(made, *NUMBERS), *NUMBERS)


def test_stored_values_are_copied() -> None:
    x = torch.randn(2, 3, 4, 5)
    program = turned(Stored(), x)
    assert copies(program) == [torch.int8, torch.int8]
    torch.testing.assert_close(program.module()(x), Stored.forward(turned_model(program), x))


def turned_model(program: ExportedProgram) -> Stored:
    """The model with the program's weights."""
    model = Stored()
    model.load_state_dict(program.state_dict)
    return model


def test_sizes_of_one_say_nothing_of_the_order() -> None:
    image = torch.empty(1, 3, 4, 5)
    assert not have_same_dim_order(image, image.to(memory_format=torch.channels_last))
    row = torch.empty(2, 3, 1, 1)
    assert have_same_dim_order(row, row.to(memory_format=torch.channels_last))
    assert have_same_dim_order((row, 3), (row, 3)) and not have_same_dim_order(
        (image,), (image.permute(0, 2, 1, 3),)
    )
