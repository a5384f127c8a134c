# SPDX-License-Identifier: BSD-3-Clause
"""Rows of sums, products, functions of one value by a table of 256 results, softmax."""

from __future__ import annotations

import torch
from torch.fx import Node

from executorch.backends.cortex_m.ops.fixed_point import (
    SHIFT_INT8,
    softmax_parameters,
)
from executorch.backends.cortex_m.passes.calls import (
    int8_operands,
    is_channels_last,
    stored_limits,
)
from executorch.exir.backend.lowering.annotation import ARITHMETIC, FROM_0_TO_1
from executorch.exir.backend.lowering.fixed_point import quantize_multiplier
from executorch.exir.backend.lowering.kernels.rows import (
    QUANTIZE,
    call_of,
    of_call,
    operand,
    qparams_of,
    quantized,
    result,
)
from executorch.exir.backend.lowering.kernels.writer import KernelWriter
from executorch.exir.backend.lowering.op_table import Condition, Constants, Row
from executorch.exir.backend.lowering.patterns import Call, Value
from executorch.exir.backend.lowering.quantized import Quantization
from executorch.exir.backend.lowering.steps import Step
from executorch.exir.dialects._ops import ops
from executorch.exir.graph_facts import torch_op

OWN = ops.edge.cortex_m

# ---- Of two ----


def _repeats(op: Node) -> bool:
    """Equal sizes, or one operand with a number or a value per channel or column."""
    values = sorted((each.meta["val"] for each in op.args[:2]), key=lambda value: -value.numel())
    large, small = values
    if small.numel() == 1 or large.shape == small.shape:
        return small.numel() == 1 or large.stride() == small.stride()
    innermost = large.shape[1] if is_channels_last(large) else large.shape[-1:].numel()
    place = 1 if is_channels_last(large) else large.dim() - 1
    own = place - (large.dim() - small.dim())
    return 0 <= own and small.numel() == small.shape[own] == innermost


ONE_SHAPE = of_call(
    _repeats,
    "one shape and memory order are expected, or one operand with a value for each channel or column",
)
NO_FACTOR = of_call(lambda op: op.kwargs.get("alpha", 1) == 1, "alpha=1 is expected")


def _write_add(writer: KernelWriter, step: Step) -> Node:
    a, b, y = operand(step, 0), operand(step, 1), result(step)
    double = 2 * max(a.scale, b.scale)
    return writer.call(
        OWN.quantized_add.default,
        *(a.source, a.zero_point, *quantize_multiplier(a.scale / double)),
        *(b.source, b.zero_point, *quantize_multiplier(b.scale / double)),
        *(y.zero_point, *quantize_multiplier(double / (y.scale * (1 << SHIFT_INT8)))),
        *stored_limits(step),
    )


def _write_mul(writer: KernelWriter, step: Step) -> Node:
    a, b, y = operand(step, 0), operand(step, 1), result(step)
    multiplier = quantize_multiplier(a.scale * b.scale / y.scale)
    numbers = (a.source, a.zero_point, b.source, b.zero_point, y.zero_point, *multiplier)
    return writer.call(OWN.quantized_mul.default, *numbers)


# ---- Of one ----

# Functions of one value: all that a table needs to know of them is what PyTorch computes in float64.
FUNCTIONS = (
    "aten.sigmoid.default",
    "aten.tanh.default",
    "aten.silu.default",
    "aten.hardswish.default",
    "aten.hardsigmoid.default",
    "aten.gelu.default",
    "aten.elu.default",
    "aten.leaky_relu.default",
    "aten.exp.default",
    "aten.log.default",
    "aten.sqrt.default",
    "aten.rsqrt.default",
    "aten.abs.default",
    "aten.neg.default",
)


def table(x: Quantization, y: Quantization, op: Node) -> torch.Tensor:
    """int8[256]: the result of each stored value, halves away from zero."""
    stored = torch.arange(-128, 128, dtype=torch.float64)
    values = torch_op(op.target)((stored - x.zero_point) * x.scale, *op.args[1:], **op.kwargs)
    return stored_results(values, y)


def stored_results(values: torch.Tensor, y: Quantization) -> torch.Tensor:
    steps = torch.nan_to_num(values / y.scale, nan=0.0) + y.zero_point
    rounded = torch.where(steps >= 0, (steps + 0.5).floor(), (steps - 0.5).ceil())
    return rounded.clamp(-128, 127).to(torch.int8)


def _write_function(writer: KernelWriter, step: Step) -> Node:
    op, x, y = call_of(step), operand(step, 0), result(step)
    lut = writer.constant(f"{op.name}_lut", table(x, y, op))
    return writer.call(OWN.quantized_activation.default, x.source, lut)


SILU = Call(
    QUANTIZE,
    Call(
        "aten.mul.Tensor",
        Value("x"),
        Call("aten.sigmoid.default", Value("x")),
        name="op",
        commutes=True,
    ),
)


def _is_silu_of_int8(step: Step, constants: Constants) -> bool:
    return qparams_of(step.named["x"]) is not None


def _write_silu(writer: KernelWriter, step: Step) -> Node:
    x, y = qparams_of(step.named["x"]), result(step)
    stored = (torch.arange(-128, 128, dtype=torch.float64) - x.zero_point) * x.scale
    values = torch.nn.functional.silu(stored)
    lut = writer.constant(f"{call_of(step).name}_lut", stored_results(values, y))
    return writer.call(OWN.quantized_activation.default, x.source, lut)


# ---- Softmax ----


def _is_innermost(op: Node) -> bool:
    value, dim = op.args[0].meta["val"], op.args[1] % op.args[0].meta["val"].dim()
    return dim == (1 if is_channels_last(value) and value.dim() == 4 else value.dim() - 1)


INNERMOST = of_call(
    _is_innermost, "the dimension whose values lie side by side in memory is expected"
)


def _has_256_steps(step: Step, constants: Constants) -> bool:
    y = result(step)
    return abs(y.scale - 1 / 256) < 1e-12 and y.zero_point == -128


def _write_softmax(writer: KernelWriter, step: Step) -> Node:
    op, x = call_of(step), operand(step, 0)
    numbers = (x.zero_point, -128, *softmax_parameters(x.scale))
    return writer.call(OWN.softmax.default, x.source, op.args[1], *numbers)


ROWS = {
    SILU: Row(
        _write_silu,
        (Condition(_is_silu_of_int8, "an operand in int8 is expected"),),
    ),
    quantized("aten.add.Tensor", limits=True): Row(
        _write_add, (int8_operands(0, 1), ONE_SHAPE, NO_FACTOR), annotation=ARITHMETIC
    ),
    quantized("aten.mul.Tensor"): Row(
        _write_mul, (int8_operands(0, 1), ONE_SHAPE), annotation=ARITHMETIC
    ),
    quantized(*FUNCTIONS): Row(_write_function, (int8_operands(0),), annotation=ARITHMETIC),
    quantized("aten._softmax.default"): Row(
        _write_softmax,
        (
            int8_operands(0),
            Condition(_has_256_steps, "a result in steps of 1/256 from -128 is expected"),
            INNERMOST,
        ),
        annotation=FROM_0_TO_1,
    ),
}
