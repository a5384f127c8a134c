# SPDX-License-Identifier: BSD-3-Clause
"""What is folded gives each of the 256 stored values back, computed by the operators that are dropped."""

from __future__ import annotations

import pytest
import torch
from torch.fx import Graph, GraphModule

import executorch.exir.tensor  # noqa: F401
from executorch.exir.backend.lowering.kernels.requantization import FoldRequantizationPass

QD, INT8 = torch.ops.quantized_decomposed, (-128, 127, torch.int8)
STORED = torch.arange(-128, 128, dtype=torch.int8)


def requantized(old: tuple[float, int], new: tuple[float, int]) -> GraphModule:
    graph = Graph()
    floats = graph.call_function(
        QD.dequantize_per_tensor.default, (graph.placeholder("x"), *old, *INT8)
    )
    graph.output(graph.call_function(QD.quantize_per_tensor.default, (floats, *new, *INT8)))
    return GraphModule(torch.nn.Module(), graph)


@pytest.mark.parametrize(
    ("old", "new", "expected"),
    [
        ((0.5, 3), (0.5, 3), True),
        ((0.1, 0), (0.1 * (1 + 1e-6), 0), True),
        ((0.1, -128), (0.1 * 1.0018, -128), True),  # 255 * 0.0018 is 0.46 of a step
        ((0.1, -128), (0.1 * 1.0025, -128), False),  # 0.64: some values move by one
        ((0.1, 0), (0.1 * 1.0037, 0), True),  # the furthest is 128 away, so 0.47
        ((0.5, 3), (0.5, 4), False),
    ],
)
def test_where_every_value_comes_back(
    old: tuple[float, int], new: tuple[float, int], expected: bool
) -> None:
    model = requantized(old, new)
    assert torch.equal(model(STORED), STORED) is expected
    assert FoldRequantizationPass()(model).modified is expected
    assert torch.equal(model(STORED), STORED) is expected
