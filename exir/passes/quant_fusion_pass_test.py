# SPDX-License-Identifier: BSD-3-Clause
"""Fusion of dequantize, operator, quantize."""

from __future__ import annotations

import operator
import re
from typing import Any

import pytest
import torch

import executorch.kernels.quantized  # noqa: F401  (out variants)
from executorch.exir import ExecutorchBackendConfig, to_edge
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


@pytest.mark.parametrize("dtype", [torch.float32, torch.bfloat16])
@pytest.mark.parametrize("bits", [8, 4, 2])
def test_an_embedding_of_a_quantized_table_becomes_one_operator(
    bits: int, dtype: torch.dtype
) -> None:
    pytest.importorskip("torchao")
    from torchao.quantization import IntxWeightOnlyConfig, quantize_
    from torchao.quantization.granularity import PerGroup

    torch.manual_seed(0)
    model = torch.nn.Sequential(torch.nn.Embedding(16, 64)).to(dtype).eval()
    weight_dtype = {8: torch.int8, 4: torch.int4, 2: torch.int2}[bits]
    config = IntxWeightOnlyConfig(weight_dtype=weight_dtype, granularity=PerGroup(32))
    quantize_(model, config, lambda module, _: isinstance(module, torch.nn.Embedding))
    ids = torch.tensor([[1, 15], [0, 7]])
    edge = to_edge(torch.export.export(model, (ids,)))

    pair = [node.name for node in edge.exported_program().graph.nodes if node.op == "call_function"]
    assert pair == ["torchao_dequantize_affine_default", "aten_embedding_default"]
    fused = edge.transform([QuantFusionPass(_fix_node_meta_val=True)])
    calls = [n.name for n in fused.exported_program().graph.nodes if n.op == "call_function"]
    overload = "default" if dtype == torch.float32 else "dtype"
    kind = "byte" if bits == 8 else f"{bits}bit"
    packing = [] if bits == 8 else ["quant_fusion__pack_embedding_weight_default"]
    assert calls == [*packing, f"quantized_decomposed_embedding_{kind}_{overload}"]
    for manager, options in (
        (edge, {}),
        (edge, {"do_quant_fusion_and_const_prop": True}),
        (fused, {}),
    ):
        program = manager.to_executorch(ExecutorchBackendConfig(**options))
        (operator,) = program.executorch_program.execution_plan[0].operators
        assert operator.name == f"quantized_decomposed::embedding_{kind}"
        sizes = [len(each.storage) for each in program.executorch_program.constant_buffer]
        assert 16 * 64 * bits // 8 in sizes  # packed
        (found,) = _load_for_executorch_from_buffer(program.buffer).forward((ids,))
        torch.testing.assert_close(found, model(ids))


def test_a_table_of_unsigned_bytes_is_one_too() -> None:
    quantized = torch.ops.quantized_decomposed

    class Rows(torch.nn.Module):
        def __init__(self) -> None:
            super().__init__()
            self.register_buffer("weight", torch.rand(10, 4) * 2 - 1)
            self.register_buffer("scales", torch.full((10,), 1 / 64))
            self.register_buffer("points", torch.arange(120, 130))

        def forward(self, ids: torch.Tensor) -> torch.Tensor:
            numbers = (self.scales, self.points, 0, 0, 255, torch.uint8)
            stored = quantized.quantize_per_channel(self.weight, *numbers)
            table = quantized.dequantize_per_channel(stored, *numbers)
            return torch.nn.functional.embedding(ids, table)

    ids = torch.tensor([1, 9, 0])
    edge = to_edge(torch.export.export(Rows(), (ids,))).transform([QuantFusionPass()])
    calls = [n.target for n in edge.exported_program().graph.nodes if n.op == "call_function"]
    namespace = ops.edge.quantized_decomposed
    assert calls == [namespace.quantize_per_channel.default, namespace.embedding_byte.default]
    torch.testing.assert_close(
        _load_for_executorch_from_buffer(edge.to_executorch().buffer).forward((ids,))[0],
        edge.exported_program().module()(ids),
    )


def test_operators_that_the_compiler_defines() -> None:
    """Without any package of kernels."""
    quantized = torch.ops.quantized_decomposed
    x, scales = torch.randn(2, 6), torch.rand(6)
    weight = torch.randint(-100, 100, (6, 3)).to(torch.int8)
    expected = x @ (weight * scales[:, None])
    torch.testing.assert_close(quantized.mixed_mm(x, weight, scales, None), expected)
    turned = quantized.mixed_linear(x, weight.t().contiguous(), torch.rand(3), None, torch.float16)
    assert turned.shape == (2, 3) and turned.dtype == torch.float16
    for name, out in (("mixed_mm", "mixed_mm.out"), ("embedding_4bit", "embedding_4bit.out")):
        edge_op = getattr(ops.edge.quantized_decomposed, name).default
        assert edge_op.to_out_variant().name() == f"quantized_decomposed::{out}"
    packed = torch.ops.quant_fusion._pack_embedding_weight(
        torch.tensor([[-8, 7]]).to(torch.int8), 4
    )
    assert packed.tolist() == [[0x0F]]
