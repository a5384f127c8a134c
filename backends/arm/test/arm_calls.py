# SPDX-License-Identifier: BSD-3-Clause
"""Single calls of operators on floats, int32 and bool, with the arguments that layers seldom give: numbers in the place
of tensors, dimensions from the end, norms without scales, pools with another divisor."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import torch
from torch import Tensor

from executorch.backends.arm.test.arm_cases import values
from executorch.backends.test.conformance.single_call import Call, Data

ROWS, IMAGE = (3, 7), (2, 4, 6, 7)


def call(name: str, *args: Any, **kwargs: Any) -> Call:
    return Call(name if name.startswith("dim_order_ops") else f"aten.{name}", args, kwargs)


def integers(*sizes: int, low: int = -9, high: int = 9) -> Tensor:
    return torch.randint(low, high + 1, sizes, dtype=torch.int32)


def numbers() -> Iterator[Call]:
    x, y = values(ROWS), values(ROWS)
    i, j = integers(*ROWS), integers(*ROWS)
    for name in ("add", "sub"):
        for alpha in (3, -0.5):
            yield call(f"{name}.Tensor", x, y, alpha=alpha)
        yield call(f"{name}.Tensor", i, j, alpha=2)
    for name in ("add", "sub", "mul", "div"):
        yield call(f"{name}.Scalar", x, 2.5)
    yield call("mul.Scalar", i, 3)


def powers() -> Iterator[Call]:
    y, above = values(ROWS), values(ROWS, 0.2, 2)
    yield call("pow.Tensor_Tensor", above, y)
    for exponent in (3, -2, -1, 8, 9, -9, 2.5, -0.5, 0):
        yield call("pow.Tensor_Scalar", above, exponent)
    yield call("pow.Tensor_Scalar", -above, 3)


def functions() -> Iterator[Call]:
    x, i = values(ROWS), integers(*ROWS)
    yield call("leaky_relu.default", x)
    yield call("leaky_relu.default", x, 0.3)
    yield call("elu.default", x, 0.7, 1.5, 2)
    yield call("elu.default", x)
    yield call("gelu.default", x)
    yield call("gelu.default", x, approximate="tanh")
    yield call("prelu.default", x, Data(torch.tensor([0.3])))
    for limits in ((-0.5, 1), (None, 0.5), (0.5, None)):
        yield call("clamp.default", x, *limits)
    for limits in ((-4, 5), (None, 5), (-4, None)):
        yield call("clamp.default", i, *limits)
    yield call("hardtanh.default", x)
    yield call("hardtanh.default", x, -0.3, 0.7)
    for name in ("abs", "neg", "relu"):
        yield call(f"{name}.default", i)
    # halves and what lies on both sides of them
    yield call("round.default", torch.arange(-9, 10) / 4)
    yield call("sign.default", torch.tensor([-2.0, -0.0, 0.0, 3.0]))
    small = torch.tensor([-0.9, -1e-4, -1e-9, 0.0, 1e-9, 1e-4, 0.9, 1.1, 5.0])
    for name in ("log1p", "expm1"):
        yield call(f"{name}.default", small)


def conditions() -> Iterator[Call]:
    x, i = values(ROWS), integers(*ROWS, low=-2, high=2)
    one, two = x > 0, x.flip(0) > 0.5
    for name in ("eq", "ne", "gt", "ge", "lt", "le"):
        yield call(f"{name}.Scalar", i, 1)
        yield call(f"{name}.Tensor", i, i.flip(0))
        yield call(f"{name}.Scalar", x, x[0, 0].item())
    for name in ("and", "or", "xor"):
        yield call(f"logical_{name}.default", one, two)
        yield call(f"bitwise_{name}.Tensor", one, two)
    for name in ("logical_not", "bitwise_not"):
        yield call(f"{name}.default", one)
    yield call("where.self", one, i, i.flip(0))
    yield call("where.self", one[0], x, values((1, 1)))
    for name, *dims in (("dim", 1), ("dim", -2, True), ("dims", [0, 1]), ("default",)):
        yield call(f"any.{name}", two, *dims)
    copy = "dim_order_ops._to_dim_order_copy.default"
    fractions = torch.tensor([-2.5, -1.5, -0.7, 0.0, 0.5, 0.7, 1.5, 2.5])
    for value, dtype in (
        (fractions, torch.int32), (fractions, torch.bool), (one, torch.float32), (one, torch.int32),
        (i, torch.float32), (i, torch.bool),
    ):  # fmt: skip
        yield call(copy, value, dtype=dtype)


def data_movement() -> Iterator[Call]:
    x, i = values(IMAGE), integers(*IMAGE)
    yield call("roll.default", x, [2, 0, -1], [3, 1, 2])
    yield call("slice_copy.Tensor", x, -1, -5, -1)
    yield call("slice_copy.Tensor", x, 2, 1, 9, 4)
    yield call("slice_copy.Tensor", x)
    yield call("select_copy.int", x, -2, -1)
    yield call("transpose_copy.int", i, -1, 1)
    yield call("split_copy.Tensor", x, 4, -1)
    yield call("split_copy.Tensor", x, 3)
    yield call("split_with_sizes_copy.default", x, [1, 3], 1)
    yield call("unbind_copy.int", x, 1)
    yield call("unbind_copy.int", x)
    yield call("t_copy.default", values(ROWS))
    yield call("repeat.default", x, [2, 1, 1, 2, 1])
    yield call("expand_copy.default", values((4, 1, 1)), [2, 4, 3, -1])
    yield call("constant_pad_nd.default", x, [1, -2, -1, 0, 2, 0], 0.5)
    yield call("constant_pad_nd.default", i, [1, 0])
    yield call("flip.default", x, [-1, 0])
    yield call("cat.default", [x, x])
    yield call("cat.default", [x, i.float()[:, :, :1]], -2)
    yield call("stack.default", [x, -x], -1)
    yield call("stack.default", [values(ROWS), values(ROWS)])
    yield call("pixel_shuffle.default", values((8, 3, 2)), 2)
    yield call("pixel_shuffle.default", values((2, 1, 9, 3, 2)), 3)
    yield call("pixel_unshuffle.default", values((2, 6, 4)), 2)
    yield call("pixel_unshuffle.default", values((2, 1, 6, 3)), 3)
    scattered = torch.arange(0, 140, 2)  # more runs than are cut out
    yield call("index.Tensor", values((2, 140)), [None, Data(scattered)])
    yield call("index.Tensor", x, [None, None, Data(torch.tensor([-1, 0, 1, 1]))])
    for dim in (1, -1):
        yield call("index_select.default", x, dim, torch.tensor([3, 0, 2], dtype=torch.int32))
    yield call("gather.default", x, -2, integers(2, 4, 3, 7, low=0, high=5).long().int())
    yield call("embedding.default", Data(values((9, 5))), integers(2, 3, low=0, high=8))


def products() -> Iterator[Call]:
    x, weight, bias = values((3, 6)), values((5, 6)), values((5,))
    for given in ((), (bias,)):
        yield call("linear.default", x, weight, *given)
        yield call("linear.default", values((2, 3, 6)), weight, *given)
        yield call("linear.default", values((2, 1, 3, 6)), Data(weight), *map(Data, given))
    for numbers in ({}, {"beta": 0.5}, {"alpha": -2}, {"alpha": 3, "beta": 2}):
        yield call("addmm.default", bias, x, weight.T.contiguous(), **numbers)
    yield call("matmul.default", values((2, 1, 3, 4)), values((3, 4, 2)))
    yield call("matmul.default", values((3, 4)), values((2, 4, 2)))

    def conv(
        x: Tensor, weight: Tensor, out: list[int] | None = None, groups: int = 1, **more: Any
    ) -> Call:
        lists = [
            more.get(name, least) for name, least in (("stride", [1]), ("pad", [0]), ("gap", [1]))
        ]
        count = weight.shape[1] * groups if out is not None else weight.shape[0]
        bias = Data(values((count,)))
        return call(
            "convolution.default",
            x,
            Data(weight),
            bias,
            *lists,
            out is not None,
            out or [0],
            groups,
        )

    image = values((2, 4, 9, 10))
    yield conv(image, values((6, 4, 3, 2)), stride=[2, 3], pad=[1, 0], gap=[1, 2])
    yield conv(image, values((6, 4, 3, 3)), stride=[3], pad=[2])
    yield conv(image, values((8, 1, 3, 3)), groups=4, pad=[1, 1])
    yield conv(image, values((6, 2, 2, 2)), groups=2)
    yield conv(values((2, 4, 11)), values((3, 4, 4)), stride=[3], pad=[1], gap=[2])
    yield conv(values((1, 2, 4, 5, 6)), values((3, 2, 2, 3, 2)), stride=[1, 2, 1], pad=[0, 1, 1])
    yield conv(image, values((4, 3, 3, 2)), out=[1, 0], stride=[2, 1], pad=[1, 0])
    yield conv(image, values((4, 2, 3, 3)), out=[0], groups=2, stride=[2], pad=[1])


def along_axes() -> Iterator[Call]:
    x, i = values(IMAGE), integers(*IMAGE)
    for unbiased in (True, False):
        yield call("var.dim", x, [1, -1], unbiased)
    yield call("var.dim", x, [0], True, True)
    for less in (None, 0, 2):
        yield call("var.correction", x, [-1], correction=less)
    yield call("var.correction", x)
    for name in ("sum.dim_IntList", "amax.default", "amin.default"):
        yield call(name, x, [1, -1], True)
        yield call(name, x, [0, 2])
        yield call(name, x, [])
    for name in ("amax.default", "amin.default"):
        yield call(name, i, [-1])
    yield call("mean.default", x)
    yield call("mean.dim", x, [-3, 0])
    yield call("mean.dim", x, [2, 3], True)
    for dim in (0, -2):
        yield call("cumsum.default", x, dim)
        yield call("_softmax.default", x, dim, False)
        yield call("_log_softmax.default", x, dim, False)
        yield call("max.dim", x, dim)
        yield call("min.dim", x, dim, True)


def windows() -> Iterator[Call]:
    x = values(IMAGE)
    average, largest = "avg_pool2d.default", "max_pool2d_with_indices.default"
    yield call(average, x, [2, 3])
    yield call(average, x, [3], [2], [1])
    yield call(average, x, [3, 3], [2, 2], [1, 1], False, True, 5)
    yield call(average, x, [9, 9], [1, 1], [2, 1])
    yield call(average, x, [6, 7])
    yield call(average, x, [6, 7], [6, 7], [0, 0], False, True, 3)
    yield call(largest, x, [3])
    yield call(largest, x, [3, 2], [2, 1], [1, 0])
    yield call(largest, x, [2, 2], [2, 3], [0, 1], [1, 1], True)
    yield call(largest, x, [2, 3], [1, 1], [1, 1], [3, 2])
    yield call("_adaptive_avg_pool2d.default", x, [3, 7])
    yield call("_adaptive_avg_pool2d.default", x, [4, 5])
    yield call("upsample_nearest2d.vec", x, [9, 4], None)
    yield call("upsample_nearest2d.vec", x, None, [2.0, 3.0])
    for sizes in ([11, 5], [1, 14], [12, 14]):
        for aligned in (True, False):
            yield call("upsample_bilinear2d.vec", x, sizes, aligned, None)


def averages() -> Iterator[Call]:
    """Of what is in an image alone."""
    for more in ([3, 2], [2, 1], [1, 0], False, False), ([2, 2], [2, 2], [0, 0], True):
        yield call("avg_pool2d.default", values(IMAGE), *more)


def norms() -> Iterator[Call]:
    x, four = values(IMAGE), [Data(values((4,), 0.5, 2)) for _ in range(4)]
    eps, last = 0.3, [Data(values((7,))), Data(values((7,)))]
    for gamma, beta in ((None, None), (last[0], None), (None, last[1]), tuple(last)):
        yield call("native_layer_norm.default", x, [7], gamma, beta, eps)
    yield call("native_layer_norm.default", x, [6, 7], None, None, eps)
    yield call("rms_norm.default", x, [7])
    yield call("rms_norm.default", x * 1e-3, [6, 7], None, 1e-5)
    yield call("rms_norm.default", x * 1e-3, [7], last[0])
    for gamma, beta in ((None, None), (four[0], None), (None, four[1]), tuple(four[:2])):
        yield call("native_group_norm.default", x, gamma, beta, 2, 4, 42, 2, eps)
    name = "_native_batch_norm_legit_no_training.default"
    for gamma, beta in ((None, None), (four[0], None), (None, four[1]), tuple(four[:2])):
        yield call(name, x, gamma, beta, *four[2:], 0.1, eps)
    yield call(name, values((5, 4)), *four, 0.1, eps)


FAMILIES = {
    each.__name__: each
    for each in (
        numbers,
        powers,
        functions,
        conditions,
        data_movement,
        products,
        along_axes,
        windows,
        averages,
        norms,
    )
}
