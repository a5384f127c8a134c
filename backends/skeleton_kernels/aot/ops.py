# SPDX-License-Identifier: BSD-3-Clause
"""The table of ops: which calls become operators of the backend, under which conditions, and as what. A row stands
for the last of the calls that it replaces. The passes, the reasons why a call stays and the page of operators read
it."""

from __future__ import annotations

import torch
from torch.fx import Graph, Node
from torch.fx.experimental.symbolic_shapes import statically_known_true

import executorch.backends.skeleton_kernels.aot.operators  # noqa: F401  defines them
from executorch.exir.backend.lowering.op_table import Condition, Constants, OpTable, Row
from executorch.exir.backend.lowering.quantized import Quantization, quantization_of
from executorch.exir.dialects._ops import ops
from executorch.exir.graph_facts import only_user, op_name

_OWN = ops.edge.skeleton_kernels


def _have_one_shape(call: Node) -> bool:
    shapes = [each.meta["val"].shape for each in call.all_input_nodes]
    return all(
        len(shape) == len(shapes[0])
        and all(statically_known_true(a == b) for a, b in zip(shape, shapes[0], strict=True))
        for shape in shapes
    )


def _is_contiguous(value: torch.Tensor, dtype: torch.dtype) -> bool:
    return value.dtype == dtype and value.is_contiguous()


# ---- relu(add(x, y)) ----


def _follows_addition(relu: Node, constants: Constants) -> bool:
    add = relu.args[0]
    is_sum = op_name(add) == "aten.add.Tensor" and add.kwargs.get("alpha", 1) == 1
    return is_sum and only_user(add) is relu and all(isinstance(arg, Node) for arg in add.args)


def _adds_floats(relu: Node, constants: Constants) -> bool:
    add = relu.args[0]
    values = [each.meta["val"] for each in add.all_input_nodes]
    return _have_one_shape(add) and all(_is_contiguous(each, torch.float32) for each in values)


def _write_add_relu(graph: Graph, relu: Node) -> Node:
    return graph.call_function(_OWN.add_relu.default, relu.args[0].args)


# ---- quantize(mul(dequantize(x), dequantize(y))) ----


def _product(quantize: Node) -> tuple[Quantization, Quantization, Quantization] | None:
    """What is said of both factors and of the result; None where that is not all."""
    result = quantization_of(quantize)
    mul = result.source if result is not None else None
    if op_name(mul) != "aten.mul.Tensor" or only_user(mul) is not quantize:
        return None
    factors = [quantization_of(each) if isinstance(each, Node) else None for each in mul.args]
    if any(each is None for each in factors):
        return None
    return *factors, result


def _multiplies_quantized(quantize: Node, constants: Constants) -> bool:
    return _product(quantize) is not None


def _are_plain_int8(quantize: Node, constants: Constants) -> bool:
    return all(
        isinstance(each.scale, float)
        and isinstance(each.zero_point, int)
        and (each.dtype, each.quant_min, each.quant_max) == (torch.int8, -128, 127)
        and each.axis is None
        and not each.group_size
        for each in _product(quantize)
    )


def _multiply_one_shape(quantize: Node, constants: Constants) -> bool:
    x, y, result = _product(quantize)
    stored = [each.source.meta["val"] for each in (x, y)]
    contiguous = all(_is_contiguous(each, torch.int8) for each in stored)
    return contiguous and _have_one_shape(result.source)


def _write_quantized_mul(graph: Graph, quantize: Node) -> Node:
    x, y, result = _product(quantize)
    scale = x.scale * y.scale / result.scale
    arguments = (x.source, x.zero_point, y.source, y.zero_point, scale, result.zero_point)
    return graph.call_function(_OWN.quantized_mul.default, arguments)


TABLE = OpTable(
    {
        "aten.relu.default": Row(
            _write_add_relu,
            (
                Condition(
                    _follows_addition, "a sum of two tensors that nothing else reads is expected"
                ),
                Condition(
                    _adds_floats,
                    "contiguous tensors of dtype float32 and of one shape are expected",
                ),
            ),
        ),
        "quantized_decomposed.quantize_per_tensor.default": Row(
            _write_quantized_mul,
            (
                Condition(
                    _multiplies_quantized,
                    "a product of two dequantized tensors, read by nothing else, is expected",
                ),
                Condition(
                    _are_plain_int8,
                    "the whole range of int8, one scale and one zero point are expected",
                ),
                Condition(_multiply_one_shape, "contiguous tensors of one shape are expected"),
            ),
        ),
    }
)
