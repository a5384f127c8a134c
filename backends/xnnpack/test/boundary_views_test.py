# SPDX-License-Identifier: BSD-3-Clause
"""Reshapes at the ends of delegates share memory outside of them, and results stay the same."""

from __future__ import annotations

import pytest
import torch
from torch import nn

from executorch.backends.xnnpack.partition.xnnpack_partitioner import XnnpackPartitioner
from executorch.exir import to_edge_transform_and_lower
from executorch.exir.graph_facts import op_name


class Weighed(nn.Module):
    """Heads of gathered rows by numbers of their own: reshapes at both ends, and one in between."""

    def forward(self, x, index, weight):
        rows = x[index].view(-1, 4, 8) * weight[index][:, :, None]
        return x.new_zeros(x.shape).index_add(0, index, (rows.exp().view(-1, 2, 16) + 1).flatten(1))


class Pooled(nn.Module):
    """What a reshape reads lies channels last inside."""

    def __init__(self):
        super().__init__()
        self.conv = nn.Conv2d(3, 8, 3)

    def forward(self, x):
        return self.conv(x).flatten(1).cumsum(1)


INDEX = torch.tensor([2, 0, 2, 4, 1, 1])
CASES = [
    (Weighed(), (torch.randn(5, 32), INDEX, torch.randn(5, 4)), 3, 1),
    (Pooled(), (torch.randn(1, 3, 6, 7),), 0, 1),
]


@pytest.mark.parametrize(("module", "inputs", "outside", "inside"), CASES)
def test_only_reshapes_at_the_ends_are_not_delegated(module, inputs, outside, inside):
    program = torch.export.export(module.eval(), inputs)
    lowered = to_edge_transform_and_lower(program, partitioner=[XnnpackPartitioner()])
    nodes = lowered.exported_program().graph.nodes
    assert _reshapes(nodes) == outside
    delegates = [
        each
        for name, each in lowered.exported_program().graph_module.named_children()
        if name.startswith("lowered_module")
    ]
    graphs = [each.original_module.graph.nodes for each in delegates]
    assert sum(map(_reshapes, graphs)) == inside


@pytest.mark.parametrize(("module", "inputs"), [case[:2] for case in CASES])
def test_results_are_eagers(module, inputs):
    runtime = pytest.importorskip("executorch.extension.pybindings.portable_lib")
    program = torch.export.export(module.eval(), inputs)
    lowered = to_edge_transform_and_lower(program, partitioner=[XnnpackPartitioner()])
    loaded = runtime._load_for_executorch_from_buffer(lowered.to_executorch().buffer)
    with torch.no_grad():
        torch.testing.assert_close(loaded.forward(inputs)[0], module(*inputs))


def test_dynamic_reshapes_stay_inside():
    size = torch.export.Dim("size", min=2, max=9)
    inputs = (torch.randn(5, 32), INDEX, torch.randn(5, 4))
    shapes = {"x": None, "index": {0: size}, "weight": None}
    program = torch.export.export(Weighed().eval(), inputs, dynamic_shapes=shapes)
    lowered = to_edge_transform_and_lower(program, partitioner=[XnnpackPartitioner()])
    assert _reshapes(lowered.exported_program().graph.nodes) == 0


def _reshapes(nodes):
    names = ("aten.view_copy.default", "aten.unsqueeze_copy.default")
    return sum(op_name(node) in names for node in nodes)
