# SPDX-License-Identifier: BSD-3-Clause
"""Single calls on stored values, lowered without an export, by the operators in Python beside float64: arguments that
layers seldom give, operands in either place, images in either order of memory."""

from __future__ import annotations

from collections.abc import Iterator

import pytest
import torch
from torch import Tensor

from executorch.backends.cortex_m.passes import CortexMPassManager
from executorch.backends.cortex_m.target_config import CortexMTargetConfig
from executorch.backends.test.conformance.quantized_single_calls import quanta_off, tensors_of
from executorch.backends.test.conformance.single_call import (
    OPERAND,
    RESULT,
    Call,
    Data,
    Numbers,
    program_of,
)
from executorch.exir.graph_facts import op_name

PART: Numbers = (1 / 256, -128, -128, 127, torch.int8)
FIRST, LAST = torch.contiguous_format, torch.channels_last


def call(name: str, *args: object, **kwargs: object) -> Call:
    return Call(f"aten.{name}", args, kwargs)


def values(*sizes: int) -> Tensor:
    return torch.rand(sizes) * 8 - 4


def weight(*sizes: int, scale: float | tuple[float, ...] = 0.01, axis: int = 0) -> Data:
    return Data(torch.randint(-127, 128, sizes, dtype=torch.int8), scale, axis)


def by_element(form: torch.memory_format) -> Iterator[Call]:
    x, y = (values(2, 4, 3, 5).to(memory_format=form) for _ in range(2))
    channels = values(1, 4, 1, 1) if form == LAST else values(5)
    for name in ("add.Tensor", "mul.Tensor"):
        for other in (y, channels, values(1)):
            yield call(name, x, other)
            yield call(name, other, x)
    yield call("add.Tensor", values(3), values(3), alpha=1)
    yield call("leaky_relu.default", x, 0.3)
    yield call("elu.default", x, 0.7, 1.5, 2)
    yield call("gelu.default", x, approximate="tanh")
    yield call("silu.default", x)


def products(form: torch.memory_format) -> Iterator[Call]:
    x = values(2, 3, 6)
    # in quanta of the operand times the weight's, and of floats
    biases = (
        Data(torch.randint(-300, 300, (5,), dtype=torch.int32), OPERAND[0] * 0.01),
        Data(values(5)),
    )
    yield call("linear.default", x, weight(5, 6))
    for bias in biases:
        yield call("linear.default", x, weight(5, 6), bias)
    beyond = Data(
        torch.tensor([5e6, -5e6, 0, 3, -3])
    )  # what 32 bits hold, of quanta of 0.05 * 0.01
    yield call("linear.default", x, weight(5, 6), beyond)
    yield call("bmm.default", x, values(2, 6, 4))
    image = values(1, 4, 6, 7).to(memory_format=form)

    def conv(w: Data, x: Tensor = image, bias: Data | None = None, out: list[int] | None = None,
             groups: int = 1, **more: list[int]) -> Call:  # fmt: skip
        least = {"stride": [1], "pad": [0], "gap": [1]}
        lists = [more.get(name, each) for name, each in least.items()]
        return call("convolution.default", x, w, bias, *lists, out is not None, out or [0], groups)

    scales = (0.01, 0.003, 0.02, 0.007, 0.013, 0.004, 0.009, 0.006)
    yield conv(weight(5, 4, 3, 2), bias=biases[0])
    yield conv(weight(5, 4, 3, 2, scale=scales[:5]), bias=biases[1], stride=[2, 1], pad=[1, 0])
    yield conv(weight(6, 2, 2, 3, scale=scales[:6]), groups=2, gap=[1, 2])
    yield conv(weight(8, 1, 3, 2, scale=scales), groups=4, pad=[1], stride=[2])
    yield conv(weight(4, 1, 3, 2), groups=4)
    twice = values(2, 4, 6, 7).to(memory_format=form)
    yield conv(weight(8, 1, 3, 2, scale=scales), twice, groups=4)
    one = values(1, 1, 6, 7)
    yield conv(weight(3, 1, 2, 2, scale=scales[:3]), one)
    yield conv(weight(4, 3, 3, 2), out=[1, 0], stride=[2, 1], pad=[1, 0])
    yield conv(weight(4, 5, 2, 3, scale=scales[:5], axis=1), bias=biases[1], out=[0])


def softmaxes(form: torch.memory_format) -> Iterator[Call]:
    image = values(2, 4, 3, 5).to(memory_format=form)
    for dim in (1, -1) if form == FIRST else (1, -3):
        yield call("_softmax.default", image, dim, False)
    for dim in (1, -1):
        yield call("_softmax.default", values(3, 4), dim, False)


def data_movement(form: torch.memory_format) -> Iterator[Call]:
    x, y = (values(2, 4, 5, 6).to(memory_format=form) for _ in range(2))
    average, largest = "avg_pool2d.default", "max_pool2d_with_indices.default"
    for more in ([2, 3],), ([2], [1]), ([3], [2], [1]), ([3, 2], [2, 1], [1, 0], False, False):
        yield call(average, x, *more)
    yield call(average, x, [2, 3], [1, 2], [0, 1], False, True, None)
    yield call(average, x, [3, 3], [], [1])
    for more in ([2, 3],), ([3], [2], [1]), ([3, 2], [], [1, 0]), ([2], [2], [0], [1], False):
        yield call(largest, x, *more)
    for name in ("minimum.default", "maximum.default"):
        yield call(name, x, y)
        yield call(name, values(3), values(2, 3))
    yield call("permute_copy.default", values(2, 3, 4), [-1, 0, 1])
    yield call("permute_copy.default", values(2, 3, 4, 5), [3, -4, 1, 2])
    for amounts in [1, 2], [0, 1, 2, 0], [1, 0, 0, 2, 1, 1], [0, 1, 1, 0, 2, 1, 1, 2]:
        yield call("constant_pad_nd.default", x, amounts, 0.7)
    yield call("constant_pad_nd.default", x, [1, 0])
    yield call("constant_pad_nd.default", values(2, 1, 3, 3), [1, 0, 0, 2, 1, 0], -9.0)
    yield call("constant_pad_nd.default", values(3, 4), [2, 1, 0, 1], 9.0)
    yield call("constant_pad_nd.default", values(2, 3, 4), [1, 2, 0, 1, 1, 0], 0.3)
    for limits in (-1, 2), (None, 1.5), (-0.5, None):
        yield call("clamp.default", x, *limits)
    yield call("relu.default", x)
    yield call("hardtanh.default", x)
    yield call("hardtanh.default", x, -0.3, 0.7)


# What results are stored as, and the quanta that may be lost besides half a one.
FAMILIES = {
    by_element: (RESULT, 2**-4 + 1e-3),  # a product is rounded before it is shifted by 3
    products: ((0.2, -11, -128, 127, torch.int8), 0.05),
    softmaxes: (PART, 0.02),
    data_movement: (OPERAND, 1e-3),
}


def off(call: Call, result: Numbers, target: CortexMTargetConfig) -> float:
    """Quanta; infinite where something is left in floats."""
    program = program_of(call, OPERAND, result)
    program = CortexMPassManager(program, target_config=target).transform()
    if any(op_name(each).startswith("quantized_decomposed") for each in program.graph.nodes):
        return torch.inf
    (found,) = program.module()(*tensors_of(call))
    return quanta_off(call, found, OPERAND, result)


# With and without sums of the weights, which MVE reads.
CASES = [*((family, "cortex-m55") for family in FAMILIES), (products, "cortex-m4")]


@pytest.mark.req("ARM-037")
@pytest.mark.parametrize(("family", "cpu"), CASES)
def test_quantized_calls_round_once(family: object, cpu: str) -> None:
    torch.manual_seed(0)
    result, loss = FAMILIES[family]
    target = CortexMTargetConfig.from_target_string(cpu)
    calls = [each for form in (FIRST, LAST) for each in family(form)]
    found = [(str(each), off(each, result, target)) for each in calls]
    assert [each for each in found if each[1] > 0.5 + loss] == []
