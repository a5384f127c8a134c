# SPDX-License-Identifier: BSD-3-Clause
"""Every condition: calls that stay on the CPU for that reason, and calls beside them, at the limit, that do not. A
condition without a case fails."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import pytest
import torch
from torch import Tensor

from executorch.backends.nxp.aot import data_movement, elementwise, gemm, pooling, reduce, rows
from executorch.backends.nxp.neutron_partitioner import NeutronPartitioner
from executorch.backends.nxp.test.nxp_calls import EVEN, SIGMOID, TANH, bias, call, weight
from executorch.backends.test.conformance.condition_cases import Case, claimed_by, without_case
from executorch.backends.test.conformance.single_call import OPERAND, RESULT, Call, Data

QUANTIZED = "not quantized: a dequantize before each operand"
STORED = "int8 with one scale and zero point is expected"


def image(*sizes: int) -> Tensor:
    return torch.zeros(sizes)


X, PHOTO, SIGNAL = image(3, 8), image(1, 2, 8, 8), image(1, 2, 8)
UINT8 = (0.05, 3, 0, 255, torch.uint8)


def case(
    reason: Any,
    refused: list[Call],
    taken: list[Call],
    operand: Any = OPERAND,
    result: Any = RESULT,
) -> Case:
    return Case(reason, refused, taken, operand, result)


def alike(reason: Any, refused: list[Call], taken: list[Call]) -> Case:
    return case(reason, refused, taken, OPERAND, OPERAND)


def tensors() -> Iterator[Case]:
    relu, abs_ = "relu.default", "abs.default"
    seven = image(1, 1, 1, 1, 1, 1, 2)
    yield case("at most 6 dimensions are expected", [call(abs_, seven)], [call(abs_, seven[0])])
    yield case("a tensor with elements is expected", [call(abs_, image(0, 3))], [call(abs_, X)])
    yield Case(QUANTIZED, [call(relu, X)], [])
    yield case(QUANTIZED, [call("add.Tensor", X, Data(X))], [call("add.Tensor", X, weight(3, 8))])
    yield case(STORED, [call(relu, X)], [], UINT8, RESULT)
    yield case(STORED, [call(relu, X)], [], OPERAND, UINT8)


def elementwise_() -> Iterator[Case]:
    add, mul = "add.Tensor", "mul.Tensor"
    yield case(elementwise.NO_FACTOR, [call(add, X, X, alpha=2), call("sub.Tensor", X, X, alpha=0.5)],
               [call(add, X, X), call(add, X, X, alpha=1)])  # fmt: skip
    yield case(elementwise.TWO_TENSORS, [call(mul, X, 2.0)], [call(mul, X, X)])
    yield case(
        elementwise.AS_LARGE, [call(mul, image(3, 1), image(1, 8))], [call(mul, X, image(1, 8))]
    )
    yield case(
        elementwise.KNOWN_LIMITS,
        [call("clamp.default", X, 1.0, -1.0)],
        [call("clamp.default", X, 0.0, 6.0)],
    )
    own = [call("clamp.default", X, 0.0, each) for each in (1.0, 6.0, None)]
    yield case(elementwise.OPERATOR_OR_QPARAMS, [call("clamp.default", X, 0.0, 2.0)], own)
    yield alike("", [], [call("clamp.default", X, 0.0, 2.0)])
    yield case(
        elementwise.SLOPES,
        [call("prelu.default", PHOTO, image(2))],
        [call("prelu.default", PHOTO, weight(1))],
    )
    slopes = [call("prelu.default", PHOTO, Data(torch.ones(2)))]
    yield case(QUANTIZED, slopes, [call("prelu.default", PHOTO, weight(2))])
    yield case("a result with scale 1/256 and zero point -128 is expected",
               [call("sigmoid.default", X)], [])  # fmt: skip
    yield case("a result with scale 1/256", [], [call("sigmoid.default", X)], OPERAND, SIGMOID)
    yield case(
        "a result with scale 1/128 and zero point 0 is expected", [call("tanh.default", X)], []
    )
    yield case("a result with scale 1/128", [], [call("tanh.default", X)], OPERAND, TANH)


def _conv(
    x: Tensor, w: Any, groups: int = 1, out: bool = False, given: Any = None, **more: Any
) -> Call:
    dims = x.dim() - 2
    lists = [
        [more.get(name, least)] * dims for name, least in (("stride", 1), ("pad", 0), ("gap", 1))
    ]
    return call("convolution.default", x, w, given, *lists, out, [0] * dims, groups)


def products() -> Iterator[Case]:
    linear = "linear.default"
    yield case(
        "a weight that is static", [call(linear, X, image(4, 8))], [call(linear, X, weight(4, 8))]
    )
    scales = tuple([0.1] * 4)
    yield case("a weight that is static", [call(linear, X, weight(4, 8, scale=scales))], [])
    yield case("a weight that is static", [_conv(PHOTO, weight(4, 2, 3, 3, scale=(0.1, 0.2), axis=1))],
               [_conv(PHOTO, weight(4, 2, 3, 3, scale=scales))])  # fmt: skip
    yield case(
        gemm.BIAS,
        [call(linear, X, weight(4, 8), image(4))],
        [call(linear, X, weight(4, 8), bias(0.02, 4))],
    )
    rows_ = call("addmm.default", bias(0.02, 4), X, weight(8, 4))
    doubled = [
        call("addmm.default", bias(0.02, 4), X, weight(8, 4), **{name: 2})
        for name in ("alpha", "beta")
    ]
    yield case(gemm.FACTORS, doubled, [rows_])
    yield case(gemm.ROW, [call("addmm.default", bias(0.02, 1), X, weight(8, 4))], [rows_])
    bmm = call("bmm.default", image(2, 3, 4), image(2, 4, 5))
    yield case(gemm.ZERO_POINTS, [bmm], [])
    yield case(gemm.ZERO_POINTS, [], [bmm], EVEN, RESULT)
    many = image(1, 22, 8, 8)
    yield case(gemm.GROUPS, [_conv(many, weight(22, 2, 1, 1), groups=11)],
               [_conv(image(1, 20, 8, 8), weight(10, 2, 1, 1), groups=10),
                _conv(many, weight(22, 1, 1, 1), groups=22)])  # fmt: skip
    long = image(1, 1, 4100)
    yield case(gemm.WINDOWS, [_conv(long, weight(1, 1, 4097)), _conv(long, weight(1, 1, 1), stride=4097)],
               [_conv(long, weight(1, 1, 4096)), _conv(long, weight(1, 1, 1), stride=4096)])  # fmt: skip
    turned = [
        _conv(PHOTO, weight(2, 4, 2, 2), out=True, stride=3),
        _conv(PHOTO, weight(2, 4, 2, 2), out=True, pad=2),
    ]
    yield case(
        gemm.TRANSPOSED, turned, [_conv(PHOTO, weight(2, 4, 2, 2), out=True, stride=2, pad=1)]
    )
    # 2047 positions of 25 channels, in groups of 8: 2047 * 32 = 65504; one more position is 65536
    wide = image(1, 25, 1, 2048)
    yield case("sums of at most 65535 products", [_conv(wide, weight(1, 25, 1, 2048))],
               [_conv(wide, weight(1, 25, 1, 2047))])  # fmt: skip
    yield case(
        "3 or 4 dimensions are expected", [_conv(image(1, 2, 4, 4, 4), weight(1, 2, 1, 1, 1))], []
    )


def windows() -> Iterator[Case]:
    average, largest = "avg_pool2d.default", "max_pool2d_with_indices.default"
    plain = [call(average, PHOTO, [2, 2]), call(largest, PHOTO, [2, 2])]
    ceil = [
        call(average, PHOTO, [3, 3], [2, 2], [0, 0], True),
        call(largest, PHOTO, [3], [2], [0], [1], True),
    ]
    yield alike(pooling.FLOOR, ceil, plain)
    yield alike(
        pooling.OWN_DIVISOR, [call(average, PHOTO, [2, 2], [2, 2], [0, 0], False, True, 3)], plain
    )
    inside = call(average, PHOTO, [2, 2], [2, 2], [1, 1], False, False)
    yield alike(
        pooling.COUNTS_ALL, [inside], [call(average, PHOTO, [2, 2], [2, 2], [0, 0], False, False)]
    )
    yield alike(pooling.DIVIDED, [call("_adaptive_avg_pool2d.default", PHOTO, [3, 4])],
                [call("_adaptive_avg_pool2d.default", PHOTO, [2, 4])])  # fmt: skip
    yield alike(pooling.NOT_DILATED, [call(largest, PHOTO, [2], [1], [0], [2])], plain)
    long = image(1, 1, 4100)
    yield alike(
        pooling.WINDOWS,
        [call("avg_pool1d.default", long, [4097])],
        [call("avg_pool1d.default", long, [4096])],
    )
    yield alike(pooling.STRIDES, [call("max_pool1d.default", long, [2], [4097])],
                [call("max_pool1d.default", long, [4097], [4096])])  # fmt: skip
    nearest, bilinear = "upsample_nearest2d.vec", "upsample_bilinear2d.vec"
    yield alike(pooling.SCALES,
                [call(nearest, PHOTO, [24, 8], None), call(bilinear, image(1, 2, 1, 8), [1, 8], True, None)],
                [call(nearest, PHOTO, [64, 16], None), call(bilinear, PHOTO, [15, 29], True, None)])  # fmt: skip
    yield alike(
        pooling.EXACT,
        [call(nearest, PHOTO, None, [2.1, 2.0])],
        [call(nearest, PHOTO, None, [2.0, 2.0])],
    )
    yield case(rows.SAME_QPARAMS, plain, [])
    yield alike("4 dimensions are expected", [call(average, SIGNAL, [2, 2])], plain)


def reductions() -> Iterator[Case]:
    softmax = "_softmax.default"
    yield alike(
        reduce.HAS_DIMS, [call("amax.default", image())], [call("amax.default", image(1), [0])]
    )
    fixed = OPERAND, SIGMOID
    yield case(reduce.CHANNELS, [call(softmax, image(1, 8, 8, 8), 2, False), call(softmax, image(8), 0, False)],
               [call(softmax, image(1, 8, 8, 8), 3, False)], *fixed)  # fmt: skip
    fits = [call(softmax, image(1, 2040), 1, False), call(softmax, image(4096, 8), 1, False)]
    outside = [image(1, 2048), image(1, 9), image(4097, 8), image(2049, 256)]
    yield case(
        "softmax: channels in multiples of 8",
        [call(softmax, each, 1, False) for each in outside],
        fits,
        *fixed,
    )


def movement() -> Iterator[Case]:
    slice_, pad = "slice_copy.Tensor", "constant_pad_nd.default"
    yield alike(
        data_movement.NO_STEPS, [call(slice_, X, 1, 0, 8, 2)], [call(slice_, X, 1, 0, 8, 1)]
    )
    yield alike(data_movement.NO_CUT, [call(pad, X, [1, -1])], [call(pad, X, [1, 0])])


FAMILIES = {
    each.__name__: each for each in (tensors, elementwise_, products, windows, reductions, movement)
}


@pytest.mark.req("NPU-032")
@pytest.mark.parametrize("family", FAMILIES)
def test_calls_on_both_sides(family: str) -> None:
    why_not = claimed_by(NeutronPartitioner())
    assert [text for each in FAMILIES[family]() for text in each.disagreements(why_not)] == []


def test_every_condition_has_a_case() -> None:
    modules = (elementwise, gemm, pooling, reduce, data_movement)
    known = [each for module in modules for each in vars(module).values()]
    cases = [each for family in FAMILIES.values() for each in family() if each.refused]
    assert without_case(known, cases) == set()
