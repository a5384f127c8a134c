# SPDX-License-Identifier: BSD-3-Clause
"""The table of ops: which calls become operators of the backend, under which conditions, and as what. The passes, the
reasons why calls stay and the page of operators read it."""

from __future__ import annotations

import torch
from torch.fx import Node
from torch.fx.experimental.symbolic_shapes import statically_known_true

import executorch.backends.skeleton_kernels.aot.operators  # noqa: F401  defines them
from executorch.exir.backend.lowering.kernels.writer import KernelWriter
from executorch.exir.backend.lowering.op_table import Condition, Constants, OpTable, Row
from executorch.exir.backend.lowering.patterns import Call, Value
from executorch.exir.backend.lowering.quantized import Quantization, quantization_of
from executorch.exir.backend.lowering.steps import Step
from executorch.exir.dialects._ops import ops

_OWN = ops.edge.skeleton_kernels
_QUANTIZE = "quantized_decomposed.quantize_per_tensor.default"
_DEQUANTIZE = "quantized_decomposed.dequantize_per_tensor.default"


def _has_no_factor(add: Node) -> bool:
    return add.kwargs.get("alpha", 1) == 1


ADD_RELU = Call(
    "aten.relu.default", Call("aten.add.Tensor", Value("x"), Value("y"), where=_has_no_factor)
)
# What dequantizes may have other readers, too.
QUANTIZED_MUL = Call(
    _QUANTIZE,
    Call(
        "aten.mul.Tensor",
        Call(_DEQUANTIZE, name="x", shared=True),
        Call(_DEQUANTIZE, name="y", shared=True),
    ),
)


def _have_one_shape(nodes: list[Node]) -> bool:
    shapes = [each.meta["val"].shape for each in nodes]
    return all(
        len(shape) == len(shapes[0])
        and all(statically_known_true(a == b) for a, b in zip(shape, shapes[0], strict=True))
        for shape in shapes
    )


def _is_plain(node: Node, dtype: torch.dtype) -> bool:
    value = node.meta["val"]
    return value.dtype == dtype and value.is_contiguous()


# ---- relu(add(x, y)) ----


def _adds_floats(step: Step, constants: Constants) -> bool:
    operands = [step.named["x"], step.named["y"]]
    if not all(isinstance(each, Node) for each in operands):
        return False
    return _have_one_shape(operands) and all(_is_plain(each, torch.float32) for each in operands)


def _write_add_relu(writer: KernelWriter, step: Step) -> Node:
    return writer.call(_OWN.add_relu.default, step.named["x"], step.named["y"])


# ---- quantize(mul(dequantize(x), dequantize(y))) ----


def _qparams(step: Step) -> tuple[Quantization, Quantization, Quantization]:
    """Of both factors and of the product."""
    x, y, product = map(quantization_of, (step.named["x"], step.named["y"], step.result))
    return x, y, product


def _is_int8(step: Step, constants: Constants) -> bool:
    return all(
        each.is_static and (each.dtype, each.quant_min, each.quant_max) == (torch.int8, -128, 127)
        for each in _qparams(step)
    )


def _multiplies_one_shape(step: Step, constants: Constants) -> bool:
    stored = [each.source for each in _qparams(step)[:2]]
    return _have_one_shape(stored) and all(_is_plain(each, torch.int8) for each in stored)


def _write_quantized_mul(writer: KernelWriter, step: Step) -> Node:
    x, y, product = _qparams(step)
    scale = x.scale * y.scale / product.scale
    arguments = (x.source, x.zero_point, y.source, y.zero_point, scale, product.zero_point)
    return writer.call(_OWN.quantized_mul.default, *arguments)


TABLE = OpTable(
    {
        ADD_RELU: Row(
            _write_add_relu,
            (
                Condition(
                    _adds_floats, "contiguous tensors of dtype float32 and one shape are expected"
                ),
            ),
        ),
        QUANTIZED_MUL: Row(
            _write_quantized_mul,
            (
                Condition(
                    _is_int8, "the whole range of int8, one scale and one zero point are expected"
                ),
                Condition(_multiplies_one_shape, "contiguous tensors of one shape are expected"),
            ),
        ),
    }
)
