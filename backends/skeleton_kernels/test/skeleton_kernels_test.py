# SPDX-License-Identifier: BSD-3-Clause
"""Which calls become the operators, and that the kernels compute them; conformance.py has what all backends pass."""

from __future__ import annotations

import pytest
import torch
from torch import nn
from torch.export import Dim, export

from executorch.backends.skeleton_kernels.aot.ops import TABLE
from executorch.backends.skeleton_kernels.aot.passes import edge_passes
from executorch.exir import EdgeProgramManager, to_edge, to_edge_transform_and_lower
from executorch.exir.backend.lowering.table_pass import TablePass
from executorch.exir.graph_facts import op_name
from executorch.runtime import Runtime
from executorch.test.e2e.build_tree import load_backend

OWN = torch.ops.skeleton_kernels
_Q = torch.ops.quantized_decomposed
_INT8 = (-128, 127, torch.int8)


@pytest.fixture(autouse=True, scope="module")
def kernels() -> None:
    load_backend("skeleton_kernels")


class AddRelu(nn.Module):
    def forward(self, x: torch.Tensor, y: torch.Tensor) -> torch.Tensor:
        return torch.relu(x + y)


class QuantizedMul(nn.Module):
    """Of values that are stored with scales 0.1 and 0.05 and zero points 3 and -7; the result has 0.02 and 11."""

    def forward(self, x: torch.Tensor, y: torch.Tensor) -> torch.Tensor:
        left = _Q.dequantize_per_tensor(x, 0.1, 3, *_INT8)
        right = _Q.dequantize_per_tensor(y, 0.05, -7, *_INT8)
        return _Q.quantize_per_tensor(left * right, 0.02, 11, *_INT8)


def int8(*sizes: int) -> torch.Tensor:
    return torch.randint(-128, 128, sizes, dtype=torch.int8)


def lowered(model: nn.Module, *inputs: torch.Tensor, **options: object) -> EdgeProgramManager:
    program = export(model, inputs, **options)
    return to_edge_transform_and_lower(program, transform_passes=edge_passes("forward", program))


def called(edge: EdgeProgramManager) -> list[str]:
    nodes = edge.exported_program().graph.nodes
    return [op_name(node) for node in nodes if node.op == "call_function"]


def run(edge: EdgeProgramManager, *inputs: torch.Tensor) -> torch.Tensor:
    program = Runtime.get().load_program(edge.to_executorch().buffer)
    return program.load_method("forward").execute(inputs)[0].clone()


@pytest.mark.parametrize("sizes", [(2, 3), (), (0, 4), (1, 2, 3, 4)])
def test_sums_are_pytorchs(sizes: tuple[int, ...]) -> None:
    x, y = torch.randn(sizes), torch.randn(sizes)
    edge = lowered(AddRelu(), x, y)
    assert called(edge) == ["skeleton_kernels.add_relu.default"]
    assert torch.equal(run(edge, x, y), torch.relu(x + y))


def test_infinities_and_nan_are_pytorchs() -> None:
    x = torch.tensor([float("inf"), -float("inf"), float("nan"), -0.0, 1e-40, 3e38])
    found = run(lowered(AddRelu(), x, x), x, x)
    torch.testing.assert_close(found, torch.relu(x + x), equal_nan=True, rtol=0, atol=0)


def test_all_products_of_int8_are_those_of_the_float_graph() -> None:
    """Which rounds float32, and so one in a hundred the other way: those that lie between two steps."""
    every = torch.arange(-128, 128, dtype=torch.int8)
    x, y = every.repeat(256), every.repeat_interleave(256)
    edge = lowered(QuantizedMul(), x, y)
    assert called(edge) == ["skeleton_kernels.quantized_mul.default"]
    found = run(edge, x, y)
    assert torch.equal(found, OWN.quantized_mul(x, 3, y, -7, 0.1 * 0.05 / 0.02, 11))
    apart = (found.int() - QuantizedMul()(x, y).int()).abs()
    assert apart.max() <= 1 and (apart != 0).float().mean() < 0.02


def test_sizes_may_vary() -> None:
    shapes = ({0: Dim("rows", min=1, max=9)},) * 2
    edge = lowered(AddRelu(), torch.ones(4, 3), torch.ones(4, 3), dynamic_shapes=shapes)
    assert called(edge) == ["skeleton_kernels.add_relu.default"]
    for rows in (4, 1, 9):
        x, y = torch.randn(rows, 3), torch.randn(rows, 3)
        assert torch.equal(run(edge, x, y), torch.relu(x + y))


class Read(nn.Module):
    """The sum is a result, too."""

    def forward(self, x: torch.Tensor, y: torch.Tensor) -> tuple[torch.Tensor, torch.Tensor]:
        total = x + y
        return total, torch.relu(total)


STAYS = {
    "broadcast": (AddRelu(), (torch.randn(2, 3), torch.randn(3)), "one shape"),
    "dtype": (AddRelu(), (torch.randn(2).double(), torch.randn(2).double()), "float32"),
    "int8 broadcast": (QuantizedMul(), (int8(2, 3), int8(3)), "one shape"),
    "read by others": (Read(), (torch.randn(2), torch.randn(2)), ""),
    "no sum": (nn.ReLU(), (torch.randn(2),), ""),
}


@pytest.mark.parametrize("name", STAYS)
def test_other_calls_stay_and_say_why(name: str) -> None:
    """Nothing is said of what no row looks like."""
    model, inputs, words = STAYS[name]
    assert not any("skeleton_kernels" in each for each in called(lowered(model, *inputs)))
    graph_module = to_edge(export(model, inputs)).exported_program().graph_module
    reasons = list(TablePass(TABLE).why_not(graph_module).values())
    assert len(reasons) == bool(words) and all(words in each for each in reasons)
