# SPDX-License-Identifier: BSD-3-Clause
"""The evaluator in floats: each operator beside eager PyTorch."""

from __future__ import annotations

from collections.abc import Sequence

import torch
from torch import Tensor
from torch.nn import functional as F

from executorch.backends.qualcomm.aot.graph import (
    Parameter,
    flag,
    float32,
    int32,
    ints,
    uint32,
    uints,
)
from executorch.backends.qualcomm.reference.evaluator import OPERATORS
from executorch.backends.qualcomm.test.one_operator import outputs_of

torch.manual_seed(0)
X, Y = torch.randn(2, 3, 4), torch.randn(2, 3, 4)
POSITIVE = X.abs() + 0.1
SMALL = X.clamp(-0.9, 0.9)
A, B = X > 0, Y > 0
IMAGE, VOLUME = torch.randn(1, 4, 6, 8), torch.randn(1, 2, 4, 5, 6)
INDICES = torch.tensor([[2, 0], [1, 1]], dtype=torch.int32)
SEEN: set[str] = set()


def check(
    kind: str,
    inputs: Sequence[Tensor] | Tensor,
    wanted: Sequence[Tensor] | Tensor,
    **parameters: Parameter,
) -> None:
    SEEN.add(kind)
    inputs = [inputs] if isinstance(inputs, Tensor) else inputs
    wanted = [wanted] if isinstance(wanted, Tensor) else wanted
    wanted = [each.int() if each.dtype is torch.int64 else each for each in wanted]
    found = outputs_of(kind, inputs, wanted, parameters)
    torch.testing.assert_close(
        found, list(wanted), atol=1e-5, rtol=1e-5, msg=lambda m: f"{kind}\n{m}"
    )


def last(x: Tensor) -> Tensor:
    """Channels last."""
    return x.movedim(1, -1)


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


def test_data_movement() -> None:
    check("Concat", [X, Y], torch.cat([X, Y], 1), axis=uint32(1))
    check("Pack", [X, Y], torch.stack([X, Y], 1), axis=uint32(1))
    check("UnPack", X, torch.unbind(X, 1), axis=uint32(1))
    check("Split", X, torch.split(X, [1, 2, 1], 2), axis=uint32(2), split_index=uints([1, 3]))
    check("Reshape", X, X.reshape(6, 4))
    check("Tile", X, X.repeat(1, 2, 3), multiples=uints([1, 2, 3]))
    check("Transpose", X, X.permute(2, 0, 1), perm=uints([2, 0, 1]))
    ranges = ints([0, 2, 1, 1, 3, 1, 0, 4, 2], 3, 3)
    check("StridedSlice", X, X[:, 1:3, ::2], ranges=ranges)
    check("StridedSlice", X, X[:, 1, ::2], ranges=ranges, shrink_axes=uint32(2))
    ranges = ints([0, 2, 1, 2, -1, -1, 1, 2, 1], 3, 3)
    check("StridedSlice", X, X.flip(1)[:, :, 1:2], ranges=ranges)
    check("StridedSlice", X, X.flip(1), ranges=ranges, begin_mask=uint32(4), end_mask=uint32(4))


def test_pads() -> None:
    amount = {"pad_amount": uints([0, 0, 1, 1, 2, 1], 3, 2)}
    check(
        "Pad",
        X,
        F.pad(X, (2, 1, 1, 1), value=0.5),
        scheme=uint32(0),
        **amount,
        pad_constant_value=float32(0.5),
    )
    for scheme, mode in ((2, "reflect"), (3, "replicate")):
        wanted = F.pad(X[None], (2, 1, 1, 1), mode)[0]
        check("Pad", X, wanted, scheme=uint32(scheme), **amount)
    row = torch.tensor([1.0, 2.0, 3.0])
    wanted = torch.tensor([2.0, 1.0, 1.0, 2.0, 3.0, 3.0])
    check("Pad", row, wanted, scheme=uint32(1), pad_amount=uints([2, 1], 1, 2))


def test_indexing() -> None:
    check("Gather", [X, INDICES], X[:, INDICES.long()], axis=int32(1))
    places = torch.tensor([2, 0, 1, 0], dtype=torch.int32).reshape(1, 1, 4)
    check("GatherElements", [X, places], X.gather(1, places.long()), axis=uint32(1))
    updates = torch.tensor([5.0, 6.0, 7.0, 8.0]).reshape(1, 1, 4)
    reads = [X, places, updates]
    check("ScatterElements", reads, X.scatter(1, places.long(), updates), axis=uint32(1))
    wanted = X.scatter_add(1, places.long(), updates)
    check("ScatterElements", reads, wanted, axis=uint32(1), reduction=uint32(1))
    pairs = torch.tensor([[0, 1], [1, 2], [0, 1]], dtype=torch.int32)
    rows, where = torch.randn(3, 4), (pairs[:, 0].long(), pairs[:, 1].long())
    wanted = X.index_put(where, rows, accumulate=True)
    check("ScatterNd", [X, pairs, rows], wanted, reduction=uint32(1))
    wanted = X.index_put((where[0][:2], where[1][:2]), rows[:2])
    check("ScatterNd", [X, pairs[:2], rows[:2]], wanted)
    product = X.clone()
    product[0, 1] *= rows[0] * rows[2]
    product[1, 2] *= rows[1]
    check("ScatterNd", [X, pairs, rows], product, reduction=uint32(2))


def test_resizes() -> None:
    x, size = last(IMAGE), (9, 5)
    for corners in (False, True):
        wanted = F.interpolate(IMAGE, size, mode="bilinear", align_corners=corners)
        flags = {"align_corners": flag(corners), "half_pixel_centers": flag(not corners)}
        check("ResizeBilinear", x, last(wanted), **flags)
        wanted = F.interpolate(IMAGE, size, mode="bicubic", align_corners=corners)
        modes = {
            "transformation_mode": uint32(2 if corners else 1),
            "interpolation_mode": uint32(2),
        }
        check("Resize", x, last(wanted), **modes, cubic_coeff=float32(-0.75))
    check("ResizeNearestNeighbor", x, last(F.interpolate(IMAGE, size)))
    exact = F.interpolate(IMAGE, size, mode="nearest-exact")
    check("ResizeNearestNeighbor", x, last(exact), half_pixel_centers=flag(True))
    modes = {"transformation_mode": uint32(3), "nearest_mode": uint32(2)}
    check("Resize", x, last(F.interpolate(IMAGE, size)), **modes)
    # Of places 0, 0.5, 1, 1.5 the last is beyond the edge.
    pair = torch.tensor([0.0, 4.0]).reshape(1, 1, 2, 1)
    wanted = torch.tensor([0.0, 2.0, 4.0, 4.0]).reshape(1, 1, 4, 1)
    check("ResizeBilinear", pair, wanted)


def test_grids_and_blocks() -> None:
    grid = torch.rand(1, 3, 5, 2) * 2.4 - 1.2
    for number, padding in enumerate(("zeros", "border", "reflection")):
        for mode, name in enumerate(("bilinear", "nearest")):
            wanted = F.grid_sample(IMAGE, grid, name, padding, align_corners=True)
            parameters = {"mode": uint32(mode), "padding_mode": uint32(number)}
            check(
                "GridSample",
                [last(IMAGE), grid],
                last(wanted),
                **parameters,
                align_corners=flag(True),
            )
    blocks = {"block_size": uints([2, 2]), "mode": uint32(1)}
    check("DepthToSpace", last(IMAGE), last(F.pixel_shuffle(IMAGE, 2)), **blocks)
    check("SpaceToDepth", last(IMAGE), last(F.pixel_unshuffle(IMAGE, 2)), **blocks)
    # Channels 0..3 of one pixel: rows of the block first; a depth of 2 in a block of 1 x 2.
    pixel = torch.arange(4.0).reshape(1, 1, 1, 4)
    wide = torch.tensor([[0.0, 1.0], [2.0, 3.0]]).reshape(1, 1, 2, 2)
    check("DepthToSpace", pixel, wide, block_size=uints([1, 2]))
    check("SpaceToDepth", wide, pixel, block_size=uints([1, 2]))
    shuffled = last(F.channel_shuffle(IMAGE, 2))
    check("ChannelShuffle", last(IMAGE), shuffled, num_groups=uint32(2), axis=uint32(3))


def test_casts_and_random_values() -> None:
    check("Cast", torch.tensor([1.9, -1.9]), torch.tensor([1, -1]))
    check("Cast", torch.tensor([0.0, 0.5]), torch.tensor([False, True]))
    check("Cast", torch.tensor([True, False]), torch.tensor([1.0, 0.0]))
    check("Convert", X, X.half())
    shape = torch.tensor([50, 60], dtype=torch.int32)
    (uniform,) = outputs_of("RandomUniformLike", [shape], [torch.empty(50, 60)])
    assert 0 <= uniform.min() and uniform.max() < 1 and abs(uniform.mean() - 0.5) < 0.02
    parameters = {"mean": float32(3), "scale": float32(2)}
    (normal,) = outputs_of("RandomNormalLike", [shape], [torch.empty(50, 60)], parameters)
    assert abs(normal.mean() - 3) < 0.1 and abs(normal.std() - 2) < 0.1


def test_no_operator_is_without_a_case() -> None:
    """Those that need encodings are in evaluator_quantized_test."""
    elsewhere = {"Quantize", "Dequantize", "RandomUniformLike", "RandomNormalLike"}
    if not set(OPERATORS) <= SEEN | elsewhere:  # this test runs alone
        for name, test in list(globals().items()):
            if name.startswith("test_") and name != "test_no_operator_is_without_a_case":
                test()
    assert set(OPERATORS) - SEEN == elsewhere
