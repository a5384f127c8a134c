# SPDX-License-Identifier: BSD-3-Clause
"""Limits that rows let run with a call."""

from __future__ import annotations

from math import inf, nan
from typing import Any

import pytest
import torch
from torch.fx import Graph, Node

from executorch.backends.xnnpack.aot import steps as xnnpack
from executorch.exir.backend.lowering.steps import limits_of
from executorch.exir.dialects._ops import ops

aten = ops.edge.aten


def _call(op: Any, *args: Any, **kwargs: Any) -> Node:
    graph = Graph()
    return graph.call_function(op, (graph.placeholder("x"), *args), kwargs)


@pytest.mark.parametrize(
    "node, limits",
    [
        (_call(aten.relu.default), (0.0, inf)),
        (_call(aten.hardtanh.default), (-1.0, 1.0)),
        (_call(aten.hardtanh.default, 0, 6), (0.0, 6.0)),
        (_call(aten.hardtanh.default, max_val=3.0), (-1.0, 3.0)),
        (_call(aten.clamp.default, None, 6), (-inf, 6.0)),
        (_call(aten.clamp.default, -2), (-2.0, inf)),
        (_call(aten.clamp.default, max=4.0), (-inf, 4.0)),
        (_call(aten.clamp.default, 2.0, 1.0), None),
        (_call(aten.clamp.default, nan, 1.0), None),
        (_call(aten.clamp.default, torch.tensor(0.0)), None),
        (_call(aten.sigmoid.default), None),
    ],
    ids=str,
)
def test_limits(node: Node, limits: tuple[float, float] | None) -> None:
    assert limits_of(node) == limits == xnnpack.limits_of(node)


def test_xnnpack_takes_no_range_of_one_number() -> None:
    node = _call(aten.clamp.default, 1.0, 1.0)
    assert limits_of(node) == (1.0, 1.0) and xnnpack.limits_of(node) is None
