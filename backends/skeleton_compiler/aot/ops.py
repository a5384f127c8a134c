# SPDX-License-Identifier: BSD-3-Clause
"""The table of ops: what the backend takes, under which conditions, and as what. Its own conditions come first, then
the vendor's validator is asked of each call, for each device."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from functools import partial
from typing import Any

import torch
from torch.fx import Node

from executorch.backends.skeleton_compiler.aot.graph import GraphWriter, why_refused
from executorch.backends.skeleton_compiler.aot.options import SkeletonCompilerOptions
from executorch.exir.backend.lowering.annotation import GEMM
from executorch.exir.backend.lowering.op_table import (
    COMPUTED_AHEAD,
    Condition,
    Constants,
    OpTable,
    Row,
    TensorCondition,
    tensors_of,
)
from executorch.exir.backend.lowering.patterns import Call, Value
from executorch.exir.backend.lowering.quantized import Quantization, quantization_of, weight_of
from executorch.exir.backend.lowering.steps import Step

_Q = "quantized_decomposed"
_DEQUANTIZE = f"{_Q}.dequantize_per_tensor.default"
_BY_CHANNEL = f"{_Q}.dequantize_per_channel.default"
# A bias is dequantized, or there is none: then `biases` is None.
QUANTIZED_LINEAR = Call(
    f"{_Q}.quantize_per_tensor.default",
    Call(
        "aten.linear.default",
        Call(_DEQUANTIZE, name="input"),
        Call(_BY_CHANNEL, name="weight"),
        Call(_BY_CHANNEL, Value("biases"), name="bias", optional=True),
    ),
)


def _has_fixed_sizes(tensor: Node, call: Node) -> bool:
    return all(type(size) is int for size in getattr(tensor.meta.get("val"), "shape", ()))


def _is_of_floats(node: Node, constants: Constants) -> bool:
    operands = [each.meta["val"] for each in tensors_of(node)]
    return all(isinstance(arg, Node) for arg in node.args) and all(
        value.dtype == torch.float32 and value.is_contiguous() for value in operands
    )


def _has_no_factor(node: Node, constants: Constants) -> bool:
    return node.kwargs.get("alpha", 1) == 1


def _binary(kind: str) -> Callable[[GraphWriter, Step], None]:
    def lower(writer: GraphWriter, step: Step) -> None:
        writer.call(kind, step, *map(writer.read, step.head.args))

    return lower


def _is_16_bits(qparams: Quantization) -> bool:
    return qparams.is_static and qparams.dtype == torch.int16 and qparams.zero_point == 0


def _is_16_by_4(step: Step, constants: Any) -> bool:
    weight = weight_of(step.named["weight"], constants)
    values = quantization_of(step.named["input"]), quantization_of(step.result)
    has_bias = "bias" in step.named or step.named["biases"] is None
    return weight is not None and weight.bits == 4 and has_bias and all(map(_is_16_bits, values))


def _linear(writer: GraphWriter, step: Step) -> None:
    weight = weight_of(step.named["weight"], writer.constants)
    operands = [
        writer.read(step.named["input"].args[0]),
        writer.constant(weight.source, "INT4", weight.scale),
    ]
    if "bias" in step.named:
        operands.append(writer.read(step.named["biases"]))
    writer.call("FULLY_CONNECTED", step, *operands)


def table_of(devices: Sequence[str]) -> OpTable[Row]:
    def row(lower: Callable[..., None], *conditions: Condition, **how: Any) -> Row:
        """`conditions`, and the validator of each device."""
        asked = []
        for device in devices:
            why = partial(why_refused, device, lower)
            taken = lambda call, constants, why=why: not why(call, constants)  # noqa: E731
            asked.append(Condition(taken, f"what the vendor takes for {device} is expected", why))
        return Row(lower, (*conditions, *asked), **how)

    of_floats = (
        Condition(_is_of_floats, "contiguous tensors of dtype float32 are expected"),
        COMPUTED_AHEAD,
    )
    no_factor = Condition(_has_no_factor, "alpha must be 1")
    is_16_by_4 = Condition(_is_16_by_4, "int16 by int4, symmetric, with an int32 bias is expected")
    return OpTable(
        {
            "aten.add.Tensor": row(_binary("ADD"), no_factor, *of_floats),
            "aten.mul.Tensor": row(_binary("MUL"), *of_floats),
            QUANTIZED_LINEAR: row(_linear, is_16_by_4, preserved=True, annotation=GEMM),
        },
        of_tensors=(TensorCondition(_has_fixed_sizes, "a tensor of fixed sizes is expected"),),
    )


TABLE = table_of(SkeletonCompilerOptions().devices)
