# SPDX-License-Identifier: BSD-3-Clause
"""Documented names that nothing of ours needs."""

from __future__ import annotations

import torch
from torch import Tensor

from executorch.backends.openvino._passes import DecomposeFloorDividePass
from executorch.backends.openvino.partitioner import OpenvinoOperatorsSupport
from executorch.backends.test.corpus.row import Function
from executorch.exir import to_edge
from executorch.exir.graph_facts import op_name


def _floor(a: Tensor, b: Tensor) -> Tensor:
    return torch.div(a, b, rounding_mode="floor")


def _decomposed(a: Tensor, b: Tensor) -> tuple[set[str], Tensor]:
    edge = to_edge(torch.export.export(Function(_floor), (a, b)))
    found = edge.transform([DecomposeFloorDividePass()]).exported_program()
    modes = {n.kwargs["rounding_mode"] for n in found.graph.nodes if "rounding_mode" in n.kwargs}
    return modes, found.module()(a, b)


def test_floor_division_of_integers_is_exact() -> None:
    """Also beyond 2**53, where floats lose them, and for every pair of signs."""
    a = torch.tensor([7, -7, 7, -7, 6, -6, 0, 2**62 + 1, -(2**62) - 1])
    b = torch.tensor([2, 2, -2, -2, 3, 3, 5, 1, 3])
    modes, found = _decomposed(a, b)
    assert modes == {"trunc"} and torch.equal(found, _floor(a, b))


def test_floor_division_of_floats() -> None:
    a, b = torch.tensor([7.5, -7.5, 6.0, -0.5]), torch.tensor([2.0, 2.0, -3.0, 4.0])
    modes, found = _decomposed(a, b)
    assert not modes and torch.equal(found, _floor(a, b))


def test_one_call_can_be_asked_for() -> None:
    edge = to_edge(
        torch.export.export(Function(lambda x: torch.relu(x).cumprod(0)), (torch.ones(3),))
    )
    nodes = {op_name(node): node for node in edge.exported_program().graph.nodes if op_name(node)}
    relu, cumprod = nodes["aten.relu.default"], nodes["aten.cumprod.default"]
    assert OpenvinoOperatorsSupport().is_node_supported({}, relu)
    assert not OpenvinoOperatorsSupport().is_node_supported({}, cumprod)
    assert not OpenvinoOperatorsSupport({"aten.relu.default"}).is_node_supported({}, relu)
    assert not OpenvinoOperatorsSupport(None, {relu.name}).is_node_supported({}, relu)
