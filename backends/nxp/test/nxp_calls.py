# SPDX-License-Identifier: BSD-3-Clause
"""Single calls for every row of the table, of values that are quantized with chosen scales: unequal ones where a row
takes them, one where results have that of the operands."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any

import torch
from torch import Tensor

from executorch.backends.test.conformance.single_call import OPERAND, RESULT, Call, Data, Numbers

INT8 = torch.int8
EVEN: Numbers = (0.05, 0, -128, 127, INT8)
ABOVE: Numbers = (0.05, -100, -128, 127, INT8)  # more than 6
WIDE: Numbers = (0.3, 5, -128, 127, INT8)
SIGMOID: Numbers = (1 / 256, -128, -128, 127, INT8)
TANH: Numbers = (1 / 128, 0, -128, 127, INT8)
ROWS, SIGNAL, IMAGE = (3, 8), (2, 4, 9), (2, 4, 6, 8)
_SCALES = (0.01, 0.003, 0.02, 0.007, 0.013, 0.004, 0.009, 0.006, 0.011, 0.005, 0.012, 0.008)


@dataclass(frozen=True)
class Case:
    call: Call
    operand: Numbers = OPERAND
    result: Numbers = RESULT


def values(*sizes: int) -> Tensor:
    return torch.rand(sizes) * 11 - 5.5


def call(name: str, *args: Any, **kwargs: Any) -> Call:
    return Call(name if name.startswith("dim_order_ops") else f"aten.{name}", args, kwargs)


def same(name: str, *args: Any, **kwargs: Any) -> Case:
    return Case(call(name, *args, **kwargs), OPERAND, OPERAND)


def weight(*sizes: int, scale: float | tuple[float, ...] = 0.02, axis: int = 0) -> Data:
    return Data(torch.randint(-127, 128, sizes, dtype=INT8), scale, axis)


def bias(scale: float | tuple[float, ...], count: int) -> Data:
    """In the products of the operand's scale and the weight's."""
    scales = (
        tuple(OPERAND[0] * each for each in scale)
        if isinstance(scale, tuple)
        else OPERAND[0] * scale
    )
    return Data(torch.randint(-3000, 3000, (count,), dtype=torch.int32), scales)


def arithmetic() -> Iterator[Case]:
    x, y = values(*IMAGE), values(*IMAGE)
    for name in ("add", "sub", "mul"):
        result = WIDE if name == "mul" else RESULT
        yield Case(call(f"{name}.Tensor", x, y), result=result)
        yield Case(call(f"{name}.Tensor", x, values(4, 1, 1)), result=result)
        yield Case(call(f"{name}.Tensor", x, weight(4, 1, 1, scale=0.04)), result=result)
        yield Case(call(f"{name}.Tensor", values(*ROWS), values(8)), result=result)
    for name in ("maximum.default", "minimum.default"):
        yield same(name, x, y)
        yield same(name, x, values(4, 1, 1))


def functions() -> Iterator[Case]:
    x = values(*IMAGE)
    for name in ("abs", "neg", "leaky_relu", "relu"):
        yield Case(call(f"{name}.default", x))
    yield Case(call("leaky_relu.default", x, 0.3))
    yield Case(call("exp.default", x * 0.4), result=WIDE)
    yield Case(call("log.default", x.abs() + 0.3))
    yield Case(call("sigmoid.default", x), result=SIGMOID)
    yield Case(call("tanh.default", x), result=TANH)
    yield Case(call("prelu.default", x, weight(4, scale=0.004)))
    yield Case(call("prelu.default", x, weight(1, scale=0.004)))
    for limits in ((-1.0, 1.0), (0.0, 1.0), (0.0, 6.0)):
        yield Case(call("hardtanh.default", x * 1.3, *limits), result=ABOVE)
        yield Case(call("clamp.default", x * 1.3, *limits), result=ABOVE)
    yield Case(call("clamp.default", x, 0.0, None))
    for limits in ((-0.7, 2.2), (None, 1.4), (-3.1, None)):
        yield same("clamp.default", x, *limits)
    yield same("hardtanh.default", x, -0.5, 3.0)


def products() -> Iterator[Case]:
    rows = values(*ROWS)
    for sizes in (ROWS, SIGNAL[:2] + (8,), (2, 1, 3, 8)):
        yield Case(call("linear.default", values(*sizes), weight(5, 8), bias(0.02, 5)), result=WIDE)
    yield Case(call("linear.default", rows, weight(5, 8)), result=WIDE)
    yield Case(call("addmm.default", bias(0.02, 5), rows, weight(8, 5)), result=WIDE)
    yield Case(call("mm.default", rows, weight(8, 5)), result=WIDE)
    yield Case(call("bmm.default", values(2, 3, 8), values(2, 8, 5)), EVEN, WIDE)


def _conv(x: Tensor, *sizes: int, groups: int = 1, out: list[int] | None = None, has_bias: bool = True,
          **more: Any) -> Case:  # fmt: skip
    is_transposed = out is not None
    count = sizes[1] if is_transposed else sizes[0]
    lists = [more.get(name, [least]) for name, least in (("stride", 1), ("pad", 0), ("gap", 1))]
    scales = _SCALES[:count]
    given = bias(scales, count) if has_bias else None
    data = weight(*sizes, scale=scales, axis=int(is_transposed))
    return Case(
        call("convolution.default", x, data, given, *lists, is_transposed, out or [0], groups),
        result=WIDE,
    )


def convolutions() -> Iterator[Case]:
    x, signal = values(*IMAGE), values(*SIGNAL)
    yield _conv(x, 6, 4, 3, 3)
    yield _conv(x, 6, 4, 3, 2, stride=[2, 1], pad=[1, 0])
    yield _conv(x, 6, 4, 3, 3, pad=[2, 2], gap=[2, 2], has_bias=False)
    yield _conv(x, 4, 1, 3, 3, groups=4, pad=[1, 1])
    yield _conv(x, 4, 1, 3, 2, groups=4, stride=[2, 2], has_bias=False)
    yield _conv(x, 6, 2, 3, 3, groups=2, pad=[1, 1])
    yield _conv(x, 12, 1, 1, 1, groups=4, has_bias=False)
    yield _conv(signal, 6, 4, 3, stride=[2], pad=[1])
    yield _conv(signal, 4, 1, 3, groups=4, pad=[1])
    yield _conv(signal, 6, 2, 3, groups=2)


def transposed_convolutions() -> Iterator[Case]:
    x, signal = values(*IMAGE), values(*SIGNAL)
    yield _conv(x, 4, 6, 3, 3, out=[0, 0])
    yield _conv(x, 4, 6, 3, 2, out=[0, 0], stride=[2, 1], pad=[1, 0], has_bias=False)
    yield _conv(x, 4, 6, 3, 3, out=[1, 1], stride=[2, 2], pad=[1, 1])
    yield _conv(x, 4, 6, 2, 2, out=[1, 0], stride=[2, 2])
    yield _conv(signal, 4, 6, 3, out=[1], stride=[2], pad=[1])


def windows() -> Iterator[Case]:
    x, signal = values(*IMAGE), values(*SIGNAL)
    yield same("avg_pool2d.default", x, [2, 3])
    yield same("avg_pool2d.default", x, [3], [2], [1])
    yield same("avg_pool2d.default", x, [3, 2], [1, 2])
    yield same("avg_pool1d.default", signal, [3], [2], [1])
    yield same("avg_pool1d.default", signal, [3])
    yield same("max_pool1d.default", signal, [3], [2], [1])
    yield same("max_pool2d_with_indices.default", x, [3, 2], [2, 1], [1, 0])
    yield same("max_pool2d_with_indices.default", x, [2])
    for name in ("adaptive_avg_pool2d", "_adaptive_avg_pool2d"):
        yield same(f"{name}.default", x, [3, 4])
    yield same("adaptive_avg_pool2d.default", x, [1, 1])
    yield same("adaptive_avg_pool1d.default", signal, [3])


def resizes() -> Iterator[Case]:
    x = values(*IMAGE)
    yield same("upsample_nearest2d.vec", x, [12, 8], None)
    yield same("upsample_nearest2d.vec", x, None, [2.0, 4.0])
    yield same("upsample_bilinear2d.vec", x, [12, 32], False, None)
    yield same("upsample_bilinear2d.vec", x, [11, 29], True, None)


def along_axes() -> Iterator[Case]:
    x, signal = values(*IMAGE), values(*SIGNAL)
    for name in ("mean.dim", "amax.default", "amin.default"):
        yield same(name, x, [2, 3])
        yield same(name, x, [-1, 1], True)
        yield same(name, x, [1])
        yield same(name, signal, [2], True)
    yield same("sum.dim_IntList", x * 0.1, [2, 3])
    yield same("sum.dim_IntList", x * 0.3, [1], True)
    yield Case(call("_softmax.default", values(*ROWS), -1, False), result=SIGMOID)
    yield Case(call("_softmax.default", values(2, 3, 16), 2, False), result=SIGMOID)
    yield Case(call("_softmax.default", values(2, 8, 3, 4), 1, False), result=SIGMOID)


def data_movement() -> Iterator[Case]:
    x = values(*IMAGE)
    yield same("view_copy.default", x, [2, 24, 8])
    yield same("view_copy.default", values(2, 8, 1, 1), [2, 8])
    yield same("squeeze_copy.default", values(2, 1, 3, 1))
    yield same("squeeze_copy.dim", values(2, 1, 3), 1)
    yield same("squeeze_copy.dims", values(2, 1, 3, 1), [1, 3])
    yield same("unsqueeze_copy.default", values(*ROWS), 1)
    yield same("permute_copy.default", x, [0, 2, 3, 1])
    yield same("permute_copy.default", x, [-1, 0, -2, 1])
    yield same("permute_copy.default", values(*ROWS), [1, 0])
    yield same("cat.default", [x, values(2, 3, 6, 8)], 1)
    yield same("cat.default", [x, x, x], -1)
    yield same("slice_copy.Tensor", x, 1, 1, 3)
    yield same("slice_copy.Tensor", x, -1, -5, -1)
    yield same("slice_copy.Tensor", x, 2, 2)
    yield same("constant_pad_nd.default", x, [1, 2, 0, 3])
    yield same("constant_pad_nd.default", x, [1, 0, 0, 0, 2, 1], 1.25)
    for name in ("alias_copy", "detach_copy"):
        yield same(f"{name}.default", x)
    yield same("dim_order_ops._clone_dim_order.default", x, dim_order=[0, 1, 2, 3])


FAMILIES = {
    each.__name__: each
    for each in (
        arithmetic, functions, products, convolutions, transposed_convolutions, windows, resizes, along_axes,
        data_movement,
    )
}  # fmt: skip
