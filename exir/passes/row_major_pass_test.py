# SPDX-License-Identifier: BSD-3-Clause
"""Channels last, and inputs in any order, beside operators whose kernels know row-major order alone."""

from __future__ import annotations

import pytest
import torch
from torch import nn

from executorch.backends.xnnpack import XnnpackPartitioner
from executorch.exir import to_edge_transform_and_lower
from executorch.extension.pybindings.portable_lib import _load_for_executorch_from_buffer

BETWEEN = {
    "group_norm": nn.GroupNorm(2, 4),
    "layer_norm": nn.LayerNorm(5),
    "linear": nn.Linear(5, 3),
    "pixel_shuffle": nn.PixelShuffle(2),  # one channel: of its strides, two orders can be read
}
INPUTS = {
    "plain": torch.randn(2, 4, 4, 5),
    "channels last": torch.randn(2, 4, 4, 5).to(memory_format=torch.channels_last),
    "another": torch.randn(5, 2, 4, 4).permute(1, 2, 3, 0),
}


def outputs(module: nn.Module, x: torch.Tensor, delegated: bool) -> tuple[list[str], torch.Tensor]:
    """The operators of the program, and its result."""
    partitioner = [XnnpackPartitioner()] if delegated else []
    edge = to_edge_transform_and_lower(torch.export.export(module, (x,)), partitioner=partitioner)
    program = edge.to_executorch()
    nodes = program.exported_program().graph.nodes
    names = [str(node.target) for node in nodes if node.op == "call_function"]
    return names, _load_for_executorch_from_buffer(program.buffer).forward((x,))[0]


@pytest.mark.parametrize("delegated", [False, True], ids=["kernels", "delegated"])
@pytest.mark.parametrize("order", INPUTS)
@pytest.mark.parametrize("name", BETWEEN)
def test_any_order_gives_what_eager_gives(name: str, order: str, delegated: bool) -> None:
    channels_last = nn.Conv2d(4, 4, 1).to(memory_format=torch.channels_last)
    for module in (BETWEEN[name], nn.Sequential(channels_last, BETWEEN[name], nn.SiLU())):
        _, found = outputs(module.eval(), INPUTS[order], delegated)
        torch.testing.assert_close(found, module(INPUTS[order]), rtol=1e-4, atol=1e-5)


@pytest.mark.parametrize("stride", [(8, 1, 64, 1), (8, 1, 1, 1), (1, 8, 64, 64)])
def test_dimensions_of_one_element_lie_anywhere(stride: tuple[int, ...]) -> None:
    x = torch.empty_strided((8, 8, 1, 1), stride).copy_(torch.randn(8, 8, 1, 1))
    module = nn.Sequential(nn.LayerNorm((8, 1, 1)), nn.Sigmoid())
    for delegated in (False, True):
        _, found = outputs(module, x, delegated)
        torch.testing.assert_close(found, module(x), rtol=1e-4, atol=1e-5)


def test_copies_are_made_where_the_order_differs_alone() -> None:
    copies = {}
    for order in ("plain", "channels last"):
        names, _ = outputs(BETWEEN["group_norm"], INPUTS[order], delegated=False)
        copies[order] = sum("_to_dim_order_copy" in name for name in names)
    assert copies == {"plain": 0, "channels last": 2}
