# SPDX-License-Identifier: BSD-3-Clause
"""Fusion of dequantize, operator, quantize."""

from __future__ import annotations

import operator
from typing import Any

import pytest
import torch

import executorch.kernels.quantized  # noqa: F401  (out variants)
from executorch.exir import to_edge
from executorch.exir.dialects._ops import ops
from executorch.exir.passes.quant_fusion_pass import QuantFusionPass
from executorch.extension.pybindings.portable_lib import _load_for_executorch_from_buffer


@pytest.mark.req("CMP-024")
@pytest.mark.parametrize("out_dtype", [torch.int8, torch.uint8])
def test_a_quantized_sum_becomes_one_operator(out_dtype: torch.dtype) -> None:
    quantized = torch.ops.quantized_decomposed

    class QuantizedSum(torch.nn.Module):
        def forward(self, a: torch.Tensor, b: torch.Tensor) -> torch.Tensor:
            low, high = torch.iinfo(out_dtype).min, torch.iinfo(out_dtype).max
            left = quantized.dequantize_per_tensor(a, 0.1, 3, -128, 127, torch.int8)
            right = quantized.dequantize_per_tensor(b, 0.2, -5, -128, 127, torch.int8)
            return quantized.quantize_per_tensor(left + right, 0.25, 1, low, high, out_dtype)

    inputs = (
        torch.arange(-64, 64, dtype=torch.int8),
        torch.arange(127, -1, -1, dtype=torch.int8),
    )
    edge = to_edge(torch.export.export(QuantizedSum(), inputs)).transform([QuantFusionPass()])
    program = edge.exported_program()
    calls = [n.target for n in program.graph.nodes if n.op == "call_function"]
    if out_dtype == torch.int8:
        assert calls == [ops.edge.quantized_decomposed.add.default]
        (operator,) = edge.to_executorch().executorch_program.execution_plan[0].operators
        assert (operator.name, operator.overload) == ("quantized_decomposed::add", "out")
    else:
        assert len(calls) == 4
    torch.testing.assert_close(program.module()(*inputs), QuantizedSum()(*inputs))


class Operators(torch.nn.Module):
    """One call of each operator that stands for others."""

    def __init__(self) -> None:
        super().__init__()
        random = torch.Generator().manual_seed(0)
        self.weight = torch.randint(-128, 127, (6, 8), dtype=torch.int8, generator=random)
        self.scales = torch.rand(6, 2, generator=random)
        self.points = torch.randint(-3, 3, (6, 2), generator=random).to(torch.float32)

    def forward(self, a: torch.Tensor, b: torch.Tensor, rows: torch.Tensor) -> tuple[Any, ...]:
        quantized = torch.ops.quantized_decomposed
        of_a, of_b, of_out = (0.1, 3, -128, 127), (0.2, -5, -128, 127), (0.25, 1, -128, 127)
        table = (self.weight, self.scales, self.points, -128, 127, rows)
        return (
            quantized.add_relu(a, *of_a, b, *of_b, *of_out),
            quantized.add.scalar(a, *of_a, torch.int8, 2.5, *of_out, torch.int8),
            quantized.add(a, *of_a, b, *of_b, *of_out),
            quantized.embedding_byte(*table),
            quantized.embedding_byte.dtype(*table, dtype=torch.float16),
        )


def _operators() -> tuple[Any, tuple[torch.Tensor, ...]]:
    inputs = (
        torch.arange(-64, 64, dtype=torch.int8),
        torch.arange(127, -1, -1, dtype=torch.int8),
        torch.tensor([[0, 5], [3, 3]]),
    )
    return to_edge(torch.export.export(Operators(), inputs)), inputs


@pytest.mark.req("CMP-023")
def test_each_backend_operator_runs() -> None:
    edge, inputs = _operators()
    program = edge.to_executorch()
    operators = {
        (op.name, op.overload) for op in program.executorch_program.execution_plan[0].operators
    }
    embedding = "quantized_decomposed::embedding_byte"
    assert {(embedding, "out"), (embedding, "dtype_out")} <= operators
    method = _load_for_executorch_from_buffer(program.buffer)
    for got, expected in zip(method.forward(inputs), Operators()(*inputs), strict=True):
        assert got.dtype == expected.dtype
        torch.testing.assert_close(got, expected)


@pytest.mark.req("CMP-023")
@pytest.mark.parametrize(
    "name",
    ["add", "mul", "sub", "floordiv", "truediv", "gt", "lt", "ge", "le", "eq"]
    + ["sym_float", "mod", "neg"],
)
def test_each_scalar_operator_computes_as_python_does(name: str) -> None:
    op = getattr(torch.ops.executorch_prim, name).Scalar
    functions = {"sym_float": float, "floordiv": operator.floordiv, "neg": operator.neg}
    function = functions.get(name) or getattr(operator, name)
    inputs = (7,) if len(op._schema.arguments) == 1 else (7, 3)
    result = op(*inputs)
    assert result == function(*inputs) and type(result) is type(function(*inputs))
