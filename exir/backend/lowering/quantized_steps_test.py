# SPDX-License-Identifier: BSD-3-Clause
"""The one recogniser finds what stands around an operator, static and dynamic, and tells what is read as a float."""

from __future__ import annotations

import operator

import pytest
import torch
from torch.fx import Graph, Node

from executorch.exir.backend.lowering.quantized import Quantization, quantizes_back
from executorch.exir.backend.lowering.quantized_steps import chain_of, quantized_step

QD, ATEN = torch.ops.quantized_decomposed, torch.ops.aten
INT8 = (-128, 127, torch.int8)


class Calls:
    def __init__(self) -> None:
        self.graph = Graph()
        self.x, self.w = map(self.graph.placeholder, ("x", "w"))

    def __call__(self, target, *args, **kwargs) -> Node:
        return self.graph.call_function(target, args, kwargs)

    def quantize(self, source: Node, scale: float, point: int = 0) -> Node:
        return self(QD.quantize_per_tensor.default, source, scale, point, *INT8)

    def dequantize(self, source: Node, scale: float, point: int = 0, **kwargs) -> Node:
        return self(QD.dequantize_per_tensor.default, source, scale, point, *INT8, **kwargs)


def test_operands_and_the_result_behind_an_activation() -> None:
    c = Calls()
    x, w = c.dequantize(c.x, 0.5, 3), c.dequantize(c.w, 0.25)
    product = c(ATEN.linear.default, x, w)
    limited = c(ATEN.relu.default, product)
    stored = c.quantize(limited, 2.0, -128)
    step = quantized_step(product, limited)
    assert step.inputs == {
        x: Quantization(c.x, 0.5, 3, *INT8),
        w: Quantization(c.w, 0.25, 0, *INT8),
    }
    assert [each.source for each in step.inputs.values()] == [c.x, c.w]
    assert step.outputs == {stored: Quantization(limited, 2.0, -128, *INT8)}
    assert step.result is stored
    alone = quantized_step(product)
    assert not alone.outputs and alone.result is None and alone.inputs == step.inputs


def test_a_result_that_is_read_as_a_float_too_is_no_result() -> None:
    c = Calls()
    total = c(ATEN.add.Tensor, c.dequantize(c.x, 0.5), c.w)
    first, second = c.quantize(total, 1.5), c.quantize(total, 2.5)
    step = quantized_step(total)
    assert list(step.outputs) == [first, second] and step.result is None and len(step.inputs) == 1
    c.graph.erase_node(second)
    assert quantized_step(total).result is first
    c.graph.output((total, first))
    assert quantized_step(total).result is None and list(quantized_step(total).outputs) == [first]


def test_what_is_a_parameter_of_a_quantize_is_not_quantized_by_it() -> None:
    c = Calls()
    scale = c(ATEN.abs.default, c.w)
    stored = c(QD.quantize_per_tensor.tensor, c.x, scale, c.w, *INT8)
    assert not quantized_step(scale).outputs and list(quantized_step(c.x).outputs) == [stored]


def test_equal_parameters_are_equal_whatever_they_are_of() -> None:
    c = Calls()
    one, other = Quantization(c.x, 0.5, 3, *INT8), Quantization(c.w, 0.5, 3, *INT8)
    assert one == other and one.is_static and one.numbers == (0.5, 3, -128, 127)
    assert one != Quantization(c.x, 0.5, 4, *INT8)
    assert not Quantization(c.x, c.w, 3, *INT8).is_static


@pytest.mark.parametrize(
    ("scale", "more", "expected"),
    [(0.5, {}, True), (0.25, {}, False), (0.5, {"out_dtype": torch.bfloat16}, False)],
)
def test_quantizing_back(scale: float, more: dict, expected: bool) -> None:
    """bfloat16 has 8 bits: of 255 steps some come back as another."""
    c = Calls()
    assert quantizes_back(c.quantize(c.dequantize(c.x, 0.5, 3, **more), scale, 3)) is expected
    assert not quantizes_back(c.quantize(c.x, scale, 3))


def dynamic(c: Calls, source: Node, of: Node) -> Node:
    chosen = c(QD.choose_qparams.tensor, of, -128, 127, 1e-6, torch.int8)
    items = [c(operator.getitem, chosen, place) for place in (0, 1)]
    stored = c(QD.quantize_per_tensor.tensor, source, *items, *INT8)
    return c(QD.dequantize_per_tensor.tensor, stored, *items, *INT8)


def test_chains() -> None:
    c = Calls()
    end = dynamic(c, c.x, c.x)
    chain = chain_of(end)
    assert chain.source is c.x and chain.nodes[-1] is end and len(chain.nodes) == 5
    assert chain.is_by_row
    assert chain_of(dynamic(c, c.x, c.w)) is None  # by the range of another
    assert chain_of(c.dequantize(c.x, 0.5)) is None


@pytest.mark.parametrize(
    ("block", "is_by_row"), [([1, 1, 8], True), ([1, 1, 4], False), ([1, 2, 8], False)]
)
def test_chains_of_torchao_tell_rows_from_other_blocks(block: list[int], is_by_row: bool) -> None:
    pytest.importorskip("torchao.quantization.quant_primitives")
    ao, c = torch.ops.torchao, Calls()
    c.x.meta["val"] = torch.randn(2, 4, 8)
    chosen = c(ao.choose_qparams_affine.default, c.x, "ASYMMETRIC", block, torch.int8)
    items = [c(operator.getitem, chosen, place) for place in (0, 1)]
    stored = c(ao.quantize_affine.default, c.x, block, *items, torch.int8)
    end = c(ao.dequantize_affine.default, stored, block, *items, torch.int8)
    assert chain_of(end).is_by_row is is_by_row
