# SPDX-License-Identifier: BSD-3-Clause
"""Operators that cut: an image into tiles, a model between layers; in programs, on the Python runtime."""

from __future__ import annotations

import pytest
import torch
from torch import nn
from torch.export import Dim, export

from executorch.backends.xnnpack.partition.xnnpack_partitioner import XnnpackPartitioner
from executorch.exir import to_edge
from executorch.extension.llm.custom_ops import op_fallback, op_tile_crop_aot
from executorch.extension.llm.custom_ops.model_sharding import get_split_graph_pass
from executorch.extension.pybindings.portable_lib import _load_for_executorch_from_buffer


class Layer(nn.Module):
    def __init__(self) -> None:
        super().__init__()
        self.inner, self.outer = nn.Linear(4, 4), nn.Linear(4, 4)

    def forward(self, x: torch.Tensor) -> torch.Tensor:
        return x + self.outer(torch.relu(self.inner(x)))


class Decoder(nn.Module):
    def __init__(self, layers: int) -> None:
        super().__init__()
        self.layers = nn.ModuleList(Layer() for _ in range(layers))

    def forward(self, x: torch.Tensor) -> torch.Tensor:
        x = x * 2
        for layer in self.layers:
            x = layer(x)
        return x


@pytest.mark.parametrize("layers, shares, cuts", [(4, 2, 1), (4, 4, 3), (5, 2, 2), (3, 1, 0)])
def test_a_model_is_cut_between_layers(layers: int, shares: int, cuts: int) -> None:
    model, inputs = Decoder(layers).eval(), (torch.randn(1, 4),)
    split, setting = get_split_graph_pass(layers, shares)
    assert setting["activate"]
    edge = to_edge(export(model, inputs))
    edge = edge.transform([split(**setting["args_kwargs_defaults"])])
    copies = [n for n in edge.exported_program().graph.nodes if "fallback" in str(n.target)]
    assert len(copies) == cuts
    lowered = edge.to_backend(XnnpackPartitioner())
    graph = lowered.exported_program().graph
    delegates = [n for n in graph.nodes if "executorch_call_delegate" in str(n.target)]
    assert len(delegates) == cuts + 1
    run = _load_for_executorch_from_buffer(lowered.to_executorch().buffer)
    torch.testing.assert_close(run.forward(inputs)[0], model(*inputs), rtol=1e-4, atol=1e-5)


def test_as_many_shares_as_layers_at_most() -> None:
    with pytest.raises(ValueError, match="1 to 2 shares, found 3"):
        get_split_graph_pass(2, 3)


class Tiles(nn.Module):
    def forward(self, image: torch.Tensor) -> torch.Tensor:
        return torch.ops.preprocess.tile_crop(image, 2) * 2


def test_images_of_several_sizes_are_cut_by_one_program() -> None:
    assert op_tile_crop_aot.MAX_NUM_TILES == 4
    sides = {name: Dim(name, max=2) * 2 for name in ("down", "across")}
    shapes = ({1: sides["down"], 2: sides["across"]},)
    exported = export(Tiles(), (torch.rand(3, 4, 4),), dynamic_shapes=shapes)
    run = _load_for_executorch_from_buffer(to_edge(exported).to_executorch().buffer)
    for height, width in ((4, 4), (2, 4), (4, 2), (2, 2)):
        image = torch.rand(3, height, width)
        tiles = [
            image[:, y : y + 2, x : x + 2] * 2
            for y in range(0, height, 2)
            for x in range(0, width, 2)
        ]
        assert torch.equal(run.forward((image,))[0], torch.stack(tiles))


def test_the_copy_is_a_tensor_of_its_own() -> None:
    x, out = torch.rand(2, 3), torch.empty(0)
    for copied in (torch.ops.llama.fallback(x), op_fallback.fallback_impl(x)):
        assert torch.equal(copied, x) and copied.data_ptr() != x.data_ptr()
    assert op_fallback.fallback_out_impl(x, out=out) is out and torch.equal(out, x)
    assert torch.ops.llama.fallback.out(x, output=out) is out
