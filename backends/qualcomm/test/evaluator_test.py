# SPDX-License-Identifier: BSD-3-Clause
"""The evaluator in floats: operators that compute, each beside eager PyTorch."""

from __future__ import annotations

import torch
from torch.nn import functional as F

from executorch.backends.qualcomm.aot.graph import flag, float32, uint32, uints
from executorch.backends.qualcomm.test.one_operator import check, checked, last
from executorch.backends.qualcomm.test.reference import (
    elementwise,
    gemm,
    norms,
    pooling,
    reductions,
)

torch.manual_seed(0)
X, Y = torch.randn(2, 3, 4), torch.randn(2, 3, 4)
POSITIVE = X.abs() + 0.1
SMALL = X.clamp(-0.9, 0.9)
A, B = X > 0, Y > 0
IMAGE, VOLUME = torch.randn(1, 4, 6, 8), torch.randn(1, 2, 4, 5, 6)


def test_elementwise() -> None:
    names = "abs asin atan ceil cos exp floor log neg logical_not reciprocal round rsqrt sign sin sqrt".split()
    inputs = {"asin": SMALL, "logical_not": A} | dict.fromkeys(("log", "rsqrt", "sqrt"), POSITIVE)
    for number, name in enumerate(names):
        x = inputs.get(name, X)
        wanted = getattr(torch, name)(x)
        check("ElementWiseUnary", x, wanted, operation=uint32(number))
        kind = {"sqrt": "SquareRoot", "logical_not": "Not"}.get(name, name.capitalize())
        if name != "reciprocal":
            check(f"ElementWise{kind}", x, wanted)
    binary = {
        "Add": X + Y,
        "Divide": X / Y,
        "FloorDiv": torch.floor_divide(X, Y),
        "Equal": X == Y,
        "Fmod": torch.fmod(X, Y),
        "Greater": X > Y,
        "GreaterEqual": X >= Y,
        "Less": X < Y,
        "LessEqual": X <= Y,
        "Maximum": torch.maximum(X, Y),
        "Minimum": torch.minimum(X, Y),
        "Mod": torch.remainder(X, Y),
        "Multiply": X * Y,
        "NotEqual": X != Y,
        "SquaredDifference": (X - Y) * (X - Y),
        "Subtract": X - Y,
    }
    for name, wanted in binary.items():
        check(f"ElementWise{name}", [X, Y], wanted)
    check("ElementWisePower", [POSITIVE, Y], POSITIVE**Y)
    check("ElementWiseAnd", [A, B], A & B)
    check("ElementWiseOr", [A, B], A | B)
    check("ElementWiseXor", [A, B], A ^ B)
    check("ElementWiseSelect", [A, X, Y], torch.where(A, X, Y))
    check("ElementWiseMultiply", [X, Y[:, :1]], X * Y[:, :1])
    floors = torch.tensor([-7, 7], dtype=torch.int32), torch.tensor([2, 2], dtype=torch.int32)
    check("ElementWiseBinary", floors, torch.tensor([-4, 3]), operation=uint32(4))
    check("ElementWiseBinary", [X, Y], X * Y, operation=uint32(13))


def test_activations() -> None:
    same = {
        "Relu": F.relu,
        "Sigmoid": torch.sigmoid,
        "Tanh": torch.tanh,
        "Gelu": F.gelu,
        "HardSwish": F.hardswish,
        "IsNan": torch.isnan,
    }
    for kind, function in same.items():
        check(kind, X * 3, function(X * 3))
    check("Elu", X, F.elu(X, 0.5), alpha=float32(0.5))
    check("Prelu", [X, Y[:1, :1]], torch.where(X > 0, X, X * Y[:1, :1]))
    bounds = {"min_value": float32(-0.5), "max_value": float32(0.5)}
    check("ReluMinMax", X, X.clamp(-0.5, 0.5), **bounds)
    neurons = (
        F.elu,
        F.gelu,
        F.hardsigmoid,
        F.hardswish,
        F.relu,
        lambda x: x.clamp(-0.5, 0.5),
        torch.sigmoid,
        F.softplus,
        torch.tanh,
    )
    for number, function in enumerate(neurons):
        slope = {"alpha": float32(1 / 6), "beta": float32(0.5)} if number == 2 else {}
        check("ElementWiseNeuron", X, function(X), operation=uint32(number), **bounds, **slope)
    ends = torch.tensor([torch.inf, -torch.inf, 1.0])
    check("IsInf", ends, torch.tensor([True, True, False]))
    check("IsInf", ends, torch.tensor([True, False, False]), detect_negative=flag(False))


def test_convolutions() -> None:
    """Filters are HWIO: of PyTorch's OIHW the dimensions (2, 3, 1, 0); of its transposed IOHW (2, 3, 0, 1)."""
    bias = torch.randn(6)
    shape = {"stride": uints([2, 1]), "pad_amount": uints([1, 1, 2, 2], 2, 2)}
    filters = torch.randn(6, 2, 3, 3)
    wanted = F.conv2d(IMAGE, filters, bias, (2, 1), (1, 2), (1, 2), 2)
    check(
        "Conv2d",
        [last(IMAGE), filters.permute(2, 3, 1, 0), bias],
        last(wanted),
        **shape,
        dilation=uints([1, 2]),
        group=uint32(2),
    )
    uneven = F.conv2d(F.pad(IMAGE, (0, 2, 1, 0)), filters, groups=2)
    pads = uints([1, 0, 0, 2], 2, 2)
    check(
        "Conv2d",
        [last(IMAGE), filters.permute(2, 3, 1, 0)],
        last(uneven),
        stride=uints([1, 1]),
        pad_amount=pads,
        group=uint32(2),
    )
    filters = torch.randn(8, 1, 3, 3)
    wanted = F.conv2d(IMAGE, filters, None, (2, 1), (1, 2), groups=4)
    check("DepthWiseConv2d", [last(IMAGE), filters.permute(2, 3, 1, 0)], last(wanted), **shape)
    filters = torch.randn(4, 3, 3, 3)
    wanted = F.conv_transpose2d(IMAGE, filters, bias, (2, 1), (1, 2), (1, 0), 2)
    check(
        "TransposeConv2d",
        [last(IMAGE), filters.permute(2, 3, 0, 1), bias],
        last(wanted),
        **shape,
        group=uint32(2),
        output_padding=uints([1, 0]),
    )
    shape = {"stride": uints([1, 2, 1]), "pad_amount": uints([1] * 6, 3, 2)}
    filters = torch.randn(3, 2, 2, 2, 2)
    wanted = F.conv3d(VOLUME, filters, None, (1, 2, 1), 1)
    check("Conv3d", [last(VOLUME), filters.permute(2, 3, 4, 1, 0)], last(wanted), **shape)
    filters = torch.randn(2, 3, 3, 3, 3)
    wanted = F.conv_transpose3d(VOLUME, filters, None, (1, 2, 1), 1)
    check("TransposeConv3d", [last(VOLUME), filters.permute(2, 3, 4, 0, 1)], last(wanted), **shape)


def test_matrices() -> None:
    weight, bias = torch.randn(5, 4), torch.randn(5)
    wanted = F.linear(X, weight, bias)
    check("FullyConnected", [X, weight, bias], wanted.reshape(6, 5))
    check("FullyConnected", [X, weight, bias], wanted, keep_dims=flag(True))
    check("MatMul", [X, Y.mT.contiguous()], X @ Y.mT)
    check("MatMul", [X, Y], X @ Y.mT, transpose_in1=flag(True))
    check("MatMul", [X, Y], X.mT @ Y, transpose_in0=flag(True))


def test_pools() -> None:
    shape = {"filter_size": uints([3, 2]), "stride": uints([2, 3])}
    pads = uints([1, 1, 1, 1], 2, 2)
    x = last(IMAGE)
    for counts in (False, True):
        wanted = F.avg_pool2d(IMAGE, (3, 2), (2, 3), 1, False, counts)
        check(
            "PoolAvg2d", x, last(wanted), **shape, pad_amount=pads, count_pad_for_edges=flag(counts)
        )
    up = F.avg_pool2d(IMAGE, (3, 2), (2, 3), ceil_mode=True)
    check("PoolAvg2d", x, last(up), **shape, rounding_mode=uint32(1))
    zeros = F.max_pool2d(F.pad(IMAGE, (1, 1, 1, 1)), (3, 2), (2, 3))
    check("PoolMax2d", x, last(zeros), **shape, pad_amount=pads)
    up = F.max_pool2d(IMAGE, (3, 2), (2, 3), ceil_mode=True)
    check("PoolMax2d", x, last(up), **shape, rounding_mode=uint32(1))
    cube = {"filter_size": uints([2, 2, 2]), "stride": uints([2, 1, 2])}
    wanted = F.avg_pool3d(VOLUME, 2, (2, 1, 2))
    check("PoolAvg3d", last(VOLUME), last(wanted), **cube)


def test_norms() -> None:
    gamma, beta, x = torch.rand(4), torch.rand(4), last(IMAGE)
    column = (slice(None), None, None)
    wanted = IMAGE * gamma[column] + beta[column]
    check("Batchnorm", [x, gamma, beta], last(wanted))
    check(
        "LayerNorm",
        [X, gamma, beta],
        F.layer_norm(X, [4], gamma, beta, 1e-3),
        epsilon=float32(1e-3),
        axes=uints([2]),
    )
    wide = torch.rand(3, 4)
    check("LayerNorm", [X, wide], F.layer_norm(X, [3, 4], wide, None, 1e-6), axes=uints([1, 2]))
    wanted = F.rms_norm(X, [4], gamma, 1e-3) + beta
    check("RmsNorm", [X, gamma, beta], wanted, epsilon=float32(1e-3), axes=uints([2]))
    wanted = F.group_norm(IMAGE, 2, gamma, beta, 1e-3)
    check("GroupNorm", [x, gamma, beta], last(wanted), epsilon=float32(1e-3), group=uint32(2))
    wanted = F.instance_norm(IMAGE, None, None, gamma, beta, eps=1e-3)
    check("InstanceNorm", [x, gamma, beta], last(wanted), epsilon=float32(1e-3))
    check("Softmax", X, torch.softmax(X, -1))
    check("Softmax", X, torch.softmax(X * 2, 1), axis=uint32(1), beta=float32(2))
    check("LogSoftmax", X, torch.log_softmax(X, -1), axis=uint32(2))


def test_reductions() -> None:
    for name, function in (
        ("Max", torch.amax),
        ("Min", torch.amin),
        ("Mean", torch.mean),
        ("Sum", torch.sum),
    ):
        check(f"Reduce{name}", X, function(X, (0, 2)), axes=uints([0, 2]))
        check(f"Reduce{name}", X, function(X, 1, True), axes=uints([1]), keep_dims=flag(True))
    for kind in ("argmax", "argmin"):
        wanted = getattr(torch, kind)(X, 1, keepdim=True)
        check(kind.capitalize(), X, wanted, axis=uint32(1), keep_dims=flag(True))
    check("CumulativeSum", X, X.cumsum(1), axis=uint32(1))
    check(
        "CumulativeSum",
        torch.tensor([1.0, 2.0, 4.0]),
        torch.tensor([6.0, 4.0, 0.0]),
        axis=uint32(0),
        exclusive=flag(True),
        reverse=flag(True),
    )
    check("TopK", X, torch.topk(X, 2), k=uint32(2))
    check("TopK", X, torch.topk(X, 3, largest=False), k=uint32(3), largest=flag(False))


def test_no_operator_of_these_families_is_without_a_case() -> None:
    rows = {name for each in (elementwise, gemm, norms, pooling, reductions) for name in each.ROWS}
    assert rows - checked(globals()) == set()
