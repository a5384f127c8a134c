# SPDX-License-Identifier: BSD-3-Clause
"""Fusion of dequantize, operator, quantize."""

from __future__ import annotations

import operator
import re
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


OF_SIZES = {
    **{name: getattr(operator, name) for name in ("add", "mul", "sub", "floordiv", "truediv")},
    **{name: getattr(operator, name) for name in ("gt", "lt", "ge", "le", "eq", "mod", "neg")},
    "sym_float": torch.sym_float,
}


@pytest.mark.req("CMP-023")
@pytest.mark.parametrize("name", OF_SIZES)
def test_each_scalar_operator_runs_and_computes_as_python_does(name: str) -> None:
    """On numbers that are known only when the program runs."""
    function = OF_SIZES[name]
    unary = name in ("neg", "sym_float")

    class OfTwo(torch.nn.Module):
        def forward(self, a: torch.Tensor, b: torch.Tensor) -> Any:
            return a.item() + b.item()

    numbers = (torch.tensor(7), torch.tensor(3))
    edge = to_edge(torch.export.export(OfTwo(), numbers))
    graph = edge.exported_program().graph_module.graph
    (total,) = (node for node in graph.nodes if node.target is operator.add)
    values = [arg.meta["val"] for arg in total.args]
    total.target, total.args = function, total.args[:1] if unary else total.args
    total.meta["val"] = function(*(values[:1] if unary else values))
    program = edge.to_executorch()
    operators = program.executorch_program.execution_plan[0].operators
    written = "floordiv" if name == "mod" else name  # the runtime's remainder is that of C++
    assert (f"executorch_prim::{written}", "Scalar") in {(op.name, op.overload) for op in operators}
    method = _load_for_executorch_from_buffer(program.buffer)
    for a, b in ((7, 3), (3, 7), (6, 6), (-7, 3), (7, -3)):
        (found,) = method.forward((torch.tensor(a), torch.tensor(b)))
        expected = function(a) if unary else function(a, b)
        assert found == expected and type(found) is type(expected)


# As the page on the backend dialect prints them.
SCHEMAS = {
    "embedding_byte": "(Tensor weight, Tensor weight_scales, Tensor weight_zero_points, int weight_quant_min, "
    "int weight_quant_max, Tensor indices) -> Tensor",
    "add": "(Tensor a, float a_scale, int a_zero_point, int a_quant_min, int a_quant_max, Tensor b, float b_scale, "
    "int b_zero_point, int b_quant_min, int b_quant_max, float out_scale, int out_zero_point, int out_quant_min, "
    "int out_quant_max) -> Tensor qc",
    "add.scalar": "(Tensor qa, float a_scale, int a_zero_point, int a_quant_min, int a_quant_max, ScalarType a_dtype, "
    "Scalar b, float out_scale, int out_zero_point, int out_quant_min, int out_quant_max, ScalarType out_dtype) "
    "-> Tensor",
}
SCHEMAS["add_relu"] = SCHEMAS["add"]


@pytest.mark.req("CMP-023")
@pytest.mark.parametrize("name", SCHEMAS)
def test_schemas_are_those_of_the_document(name: str) -> None:
    packet, _, overload = name.partition(".")
    op = getattr(getattr(torch.ops.quantized_decomposed, packet), overload or "default")
    listed = torch._C.parse_schema(f"quantized_decomposed::{name}{SCHEMAS[name]}")

    def arguments(schema: torch._C.FunctionSchema) -> list[tuple[str, str]]:
        """What may be left out may be given as well."""
        kinds = (re.sub(r"^Optional\[(.*)\]$", r"\1", str(a.type)) for a in schema.arguments)
        return list(zip(kinds, (a.name for a in schema.arguments), strict=True))

    assert arguments(op._schema) == arguments(listed)
