# SPDX-License-Identifier: BSD-3-Clause
"""Channels last, and inputs in any order, beside operators whose kernels know row-major order alone."""

from __future__ import annotations

import pytest
import torch
from torch import nn

from executorch.backends.xnnpack import XnnpackPartitioner
from executorch.exir import EdgeCompileConfig, to_edge_transform_and_lower
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


# What upstream's kernels run on row-major tensors alone: error 0x12 for these inputs otherwise.
REDUCED = {
    "mean of a dimension": lambda x: x.mean(3, keepdim=True),
    "mean of two": lambda x: x.mean((2, 3)),
    "mean of all": lambda x: x.mean(),
    "sum": lambda x: x.sum(2),
    "sum of all": lambda x: x.sum(),
    "average pool": lambda x: nn.functional.avg_pool2d(x, 2),
    "adaptive pool": lambda x: nn.functional.adaptive_avg_pool2d(x, (2, 3)),
    "largest": lambda x: x.amax((2, 3)),
    "largest of all": lambda x: x.max(),
    "least and where": lambda x: x.min(2),
    "where the least is": lambda x: x.argmin(1),
    "any": lambda x: (x > 1).any(2),
}


class Call(nn.Module):
    def __init__(self, name: str) -> None:
        super().__init__()
        self.function = REDUCED[name]

    def forward(self, x: torch.Tensor) -> tuple[torch.Tensor, ...]:
        result = self.function(x)
        return tuple(result) if isinstance(result, tuple) else (result,)


@pytest.mark.parametrize("name", REDUCED)
def test_what_upstream_runs_in_row_major_order_alone_reads_a_copy(name: str) -> None:
    for order, copies in (("plain", 0), ("channels last", 1)):
        names, found = outputs(Call(name), INPUTS[order], delegated=False)
        reads = [names.index(each) for each in names if "_to_dim_order_copy" in each]
        assert bool(reads) == bool(copies), names
        torch.testing.assert_close(found, Call(name)(INPUTS[order])[0])
    program = torch.export.export(Call(name), (INPUTS["channels last"],))
    config = EdgeCompileConfig(_skip_dim_order=True)  # nor does upstream copy then
    planned = to_edge_transform_and_lower(program, compile_config=config).to_executorch()
    operators = planned.executorch_program.execution_plan[0].operators
    assert not any("_to_dim_order_copy" in each.name for each in operators)


def test_copies_are_made_where_the_order_differs_alone() -> None:
    copies = {}
    for order in ("plain", "channels last"):
        names, _ = outputs(BETWEEN["group_norm"], INPUTS[order], delegated=False)
        copies[order] = sum("_to_dim_order_copy" in name for name in names)
    assert copies == {"plain": 0, "channels last": 2}
