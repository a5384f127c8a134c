# SPDX-License-Identifier: BSD-3-Clause
"""Drawn calls of every operator, with edges and saturation, as one program per family: what kernels give is compared
with the formulas. Inputs are the bytes of one generator, which the C++ of the tests has, too."""

from __future__ import annotations

import math
import random
from collections.abc import Callable
from dataclasses import dataclass, field
from typing import Any

import torch
from torch import Tensor, nn

import executorch.backends.cortex_m.ops.operators  # noqa: F401  defines them
from executorch.backends.cortex_m.ops.fixed_point import quantize_multiplier, softmax_parameters
from executorch.exir import EdgeCompileConfig, ExecutorchProgramManager, to_edge

OWN = torch.ops.cortex_m


class Bytes:
    """x -> 1664525 x + 1013904223 of 32 bits; the highest eight."""

    def __init__(self) -> None:
        self._state = 1

    def take(self, count: int) -> Tensor:
        found = bytearray()
        for _ in range(count):
            self._state = (self._state * 1664525 + 1013904223) & 0xFFFFFFFF
            found.append(self._state >> 24)
        return (
            torch.frombuffer(found, dtype=torch.int8) if count else torch.empty(0, dtype=torch.int8)
        )


def filled(source: Bytes, like: Tensor) -> Tensor:
    """As `like`, with bytes in the order of its memory: of float32, hundredths of them."""
    stored = source.take(like.numel())
    values = stored.float() / 100 if like.dtype == torch.float32 else stored
    if like.dim() == 4 and like.stride() != torch.empty(like.shape).stride():
        n, c, h, w = like.shape
        return values.reshape(n, h, w, c).permute(0, 3, 1, 2)
    return values.reshape(like.shape)


@dataclass
class Case:
    """A call; tensors in `inputs` are given at run time, in front of `rest`, or where `place` says."""

    op: Callable[..., Tensor]
    inputs: list[Tensor]
    rest: list[Any]
    place: list[int] = field(default_factory=list)

    def args(self, given: list[Tensor]) -> list[Any]:
        args = list(self.rest)
        for place, tensor in zip(self.place or range(len(given)), given, strict=True):
            args.insert(place, tensor)
        return args


class Calls(nn.Module):
    def __init__(self, cases: list[Case]) -> None:
        super().__init__()
        self.cases = cases
        for i, case in enumerate(cases):
            for j, each in enumerate(case.rest):
                if isinstance(each, Tensor):
                    self.register_buffer(f"data_{i}_{j}", each)

    def forward(self, *given: Tensor) -> tuple[Tensor, ...]:
        left, results = list(given), []
        for i, case in enumerate(self.cases):
            own, left = left[: len(case.inputs)], left[len(case.inputs) :]
            rest = [
                getattr(self, f"data_{i}_{j}") if isinstance(each, Tensor) else each
                for j, each in enumerate(case.rest)
            ]
            results.append(case.op(*Case(case.op, own, rest, case.place).args(own)))
        return tuple(results)


def program(cases: list[Case]) -> tuple[ExecutorchProgramManager, list[Tensor], list[Tensor]]:
    """Of a family: the program, its inputs, and the results by the formulas."""
    source = Bytes()
    inputs = [filled(source, each) for case in cases for each in case.inputs]
    model = Calls(cases)
    expected = list(model(*inputs))
    edge = to_edge(
        torch.export.export(model, tuple(inputs)),
        compile_config=EdgeCompileConfig(_check_ir_validity=False),
    )
    return edge.to_executorch(), inputs, expected


# ---- Draws ----


def int8(*sizes: int) -> Tensor:
    return torch.zeros(sizes, dtype=torch.int8)


def image(*sizes: int) -> Tensor:
    return int8(*sizes).to(memory_format=torch.channels_last)


class Draw:
    def __init__(self, seed: int = 0) -> None:
        self.random = random.Random(seed)
        self.torch = torch.Generator().manual_seed(seed)

    def zero(self) -> int:
        return self.random.choice([-128, 127, 0, self.random.randint(-128, 127)])

    def scale(self, least: float = 1e-4, largest: float = 4) -> tuple[int, int]:
        power = self.random.uniform(math.log(least), math.log(largest))
        return quantize_multiplier(math.exp(power))

    def limits(self) -> tuple[int, int]:
        low = self.random.choice([-128, -128, self.random.randint(-128, 0)])
        return low, self.random.choice([127, 127, self.random.randint(low, 127)])

    def data(self, low: int, high: int, dtype: torch.dtype, *sizes: int) -> Tensor:
        return torch.randint(low, high, sizes, dtype=dtype, generator=self.torch)

    def sizes(self, rank: int, largest: int = 7) -> list[int]:
        return [self.random.randint(1, largest) for _ in range(rank)]

    def per_channel(self, channels: int) -> list[Tensor]:
        pairs = [self.scale(1e-5, 0.1) for _ in range(channels)]
        return [torch.tensor(each, dtype=torch.int32) for each in zip(*pairs, strict=True)]


def adds(draw: Draw) -> list[Case]:
    cases = []
    for shapes in _pairs(draw):
        scales = [draw.scale(0.01, 1) for _ in "ab"]
        numbers = [draw.zero(), *draw.scale(1e-7, 1e-4), *draw.limits()]
        rest = [draw.zero(), *scales[0], draw.zero(), *scales[1], *numbers]
        cases.append(Case(OWN.quantized_add, shapes, rest, [0, 4]))
    return cases


def muls(draw: Draw) -> list[Case]:
    return [
        Case(
            OWN.quantized_mul,
            shapes,
            [draw.zero(), draw.zero(), draw.zero(), *draw.scale()],
            [0, 2],
        )
        for shapes in _pairs(draw)
    ]


def _pairs(draw: Draw) -> list[list[Tensor]]:
    """One shape, a value per channel or column, a number; either first."""
    found = []
    for _ in range(12):
        sizes = draw.sizes(draw.random.randint(1, 4))
        found.append([int8(*sizes), int8(*sizes)])
    for _ in range(4):
        n, c, h, w = draw.sizes(4)
        channel = image(1, c, 1, 1)
        found += [[image(n, c, h + 1, w), channel], [channel, image(n, c, h + 1, w)]]
        found += [[int8(h, w), int8(w)], [int8(w), int8(h, w)], [int8(h, w), int8(1)]]
    return found


def choices(draw: Draw) -> list[Case]:
    ops = (OWN.minimum, OWN.maximum)
    shapes = [
        ((2, 3), (3,)),
        ((2, 1, 4), (3, 1)),
        ((5,), (5,)),
        ((1,), (4, 1)),
        ((2, 3, 1, 2, 2), (2,)),
    ]
    cases = [Case(op, [int8(*a), int8(*b)], []) for op in ops for a, b in shapes]
    images = [Case(op, [image(2, 3, 4, 5), image(1, 3, 1, 5)], []) for op in ops]
    return cases + images


def tables(draw: Draw) -> list[Case]:
    return [
        Case(OWN.quantized_activation, [each], [draw.data(-128, 128, torch.int8, 256)])
        for each in (int8(300), int8(2, 3, 4), image(1, 3, 4, 5))
    ]


def linears(draw: Draw) -> list[Case]:
    cases = []
    for index in range(40):
        rows, columns, count = draw.sizes(3, 40)
        count = 130 if index == 0 else count
        bias = draw.data(-5000, 5000, torch.int32, columns)
        kernel_sum = draw.data(-5000, 5000, torch.int32, 1, columns)
        given = [(bias, None), (None, None), (None, kernel_sum)][index % 3]
        low, high = draw.limits()
        multiplier, shift = draw.scale(1e-4, 0.1)
        offsets = [-draw.zero(), draw.random.choice([0, 0, 3]), draw.zero()]
        weights = draw.data(-128, 128, torch.int8, columns, count)
        rest = [weights, *given, *offsets, [multiplier], [shift], high, low]
        leading = draw.sizes(draw.random.randint(0, 2), 3)
        cases.append(Case(OWN.quantized_linear, [int8(*leading, rows, count)], rest))
    return cases


def products(draw: Draw) -> list[Case]:
    cases = []
    for _ in range(15):
        b, m, n, k = draw.sizes(4, 9)
        rest = [-draw.zero(), -draw.zero(), draw.zero(), *draw.scale(1e-4, 0.1), _scratch()]
        cases.append(Case(OWN.quantized_batch_matmul, [int8(b, m, k), int8(b, n, k)], rest, [0, 2]))
    return cases


def _scratch() -> Tensor:
    return torch.zeros(1, dtype=torch.uint8)


def _windows(draw: Draw) -> tuple[list[list[int]], list[int]]:
    """Kernel, stride, padding, dilation; and an image that they fit on."""
    numbers = [[draw.random.randint(1, 4) for _ in "hw"], [draw.random.randint(1, 3) for _ in "hw"]]
    numbers.append([draw.random.randint(0, kernel - 1) for kernel in numbers[0]])
    numbers.append([draw.random.choice([1, 1, 2]) for _ in "hw"])
    least = [d * (k - 1) + 1 - 2 * p for k, p, d in zip(numbers[0], numbers[2], numbers[3])]
    return numbers, [max(1, each) + draw.random.randint(0, 5) for each in least]


def _quantization(draw: Draw, channels: int) -> list[Any]:
    return [-draw.zero(), draw.zero(), *draw.per_channel(channels), *draw.limits()]


def convs(draw: Draw) -> list[Case]:
    cases = []
    for index in range(40):
        (kernel, *shapes), size = _windows(draw)
        groups = draw.random.choice([1, 1, 1, 2, 3])
        depth, per_group = draw.random.choice([1, 2, 3, 5, 8, 17]), draw.random.randint(1, 5)
        channels = groups * per_group
        weight = draw.data(-128, 128, torch.int8, channels, *kernel, depth)
        bias = draw.data(-9000, 9000, torch.int32, channels) if index % 4 else None
        rest = [weight, bias, *shapes, *_quantization(draw, channels), _scratch()]
        x = image(draw.random.randint(1, 2), groups * depth, *size)
        cases.append(Case(OWN.quantized_conv2d, [x], rest))
    return cases


def depthwise_convs(draw: Draw) -> list[Case]:
    cases = []
    for index in range(30):
        (kernel, *shapes), size = _windows(draw)
        inputs, multiplier = draw.random.choice([1, 3, 8, 16, 33]), draw.random.choice([1, 1, 2, 3])
        channels = inputs * multiplier
        weight = draw.data(-128, 128, torch.int8, 1, *kernel, channels)
        bias = draw.data(-9000, 9000, torch.int32, channels) if index % 4 else None
        rest = [weight, bias, *shapes, multiplier, *_quantization(draw, channels), _scratch()]
        cases.append(Case(OWN.quantized_depthwise_conv2d, [image(1, inputs, *size)], rest))
    return cases


def transposed_convs(draw: Draw) -> list[Case]:
    cases = []
    for index in range(25):
        (kernel, stride, padding, dilation), size = _windows(draw)
        extra = [draw.random.randint(0, each - 1) for each in stride]
        inputs, channels = draw.random.choice([1, 3, 18]), draw.random.randint(1, 5)
        made = [
            (n - 1) * s - 2 * p + d * (k - 1) + e + 1
            for n, s, p, d, k, e in zip(size, stride, padding, dilation, kernel, extra)
        ]
        if min(made) < 1:
            continue
        weight = draw.data(-128, 128, torch.int8, channels, *kernel, inputs)
        bias = draw.data(-9000, 9000, torch.int32, channels) if index % 4 else None
        numbers = [*_quantization(draw, channels), _scratch(), _scratch()]
        rest = [weight, bias, stride, padding, extra, dilation, *numbers]
        x = image(draw.random.randint(1, 2), inputs, *size)
        cases.append(Case(OWN.quantized_transpose_conv2d, [x], rest))
    return cases


def pools(draw: Draw) -> list[Case]:
    cases = []
    for _ in range(20):
        (kernel, stride, _, _), size = _windows(draw)
        padding = [each // 2 for each in kernel]
        shape = [
            draw.random.randint(1, 2),
            draw.random.choice([1, 3, 8]),
            *(each + 3 for each in size),
        ]
        mean = [kernel, stride, padding, 0, 0, 0, _scratch()]
        cases.append(Case(OWN.quantized_avg_pool2d, [image(*shape)], mean))
        largest = [kernel, stride, padding, [1, 1], False, 3, 3, *draw.limits()]
        cases.append(Case(OWN.quantized_max_pool2d, [image(*shape)], largest))
    return cases


def softmaxes(draw: Draw) -> list[Case]:
    cases = []
    for scale in (1e-4, 0.01, 0.1, 1.0, 6.0):
        numbers = [0, -128, *softmax_parameters(scale)]
        for rows in ([1, 1], [3, 17], [2, 200], [1, 600]):
            cases.append(Case(OWN.softmax, [int8(*rows)], [-1, *numbers]))
        cases.append(Case(OWN.softmax, [image(1, 5, 3, 2)], [1, *numbers]))
    return cases


def data_movement(draw: Draw) -> list[Case]:
    cases = []
    for rank in (1, 2, 3, 4):
        for _ in range(4):
            perm = draw.random.sample(range(rank), rank)
            cases.append(Case(OWN.transpose, [int8(*draw.sizes(rank, 5))], [perm]))
            amounts = [
                [0] * (4 - rank) + [draw.random.randint(0, 2) for _ in range(rank)] for _ in "ab"
            ]
            cases.append(Case(OWN.pad, [int8(*draw.sizes(rank, 5))], [*amounts, draw.zero()]))
    return [*cases, Case(OWN.pad, [image(1, 3, 4, 2)], [[0, 1, 2, 3], [0, 3, 0, 1], -7])]


def quantizes(draw: Draw) -> list[Case]:
    numbers = [
        (0.01, 3, -128, 127, torch.int8),
        (0.3, -128, -100, 100, torch.int8),
        (1e-4, 5, -32768, 32767, torch.int16),
    ]
    return [Case(OWN.quantize_per_tensor, [torch.zeros(700)], list(each)) for each in numbers]


def dequantizes(draw: Draw) -> list[Case]:
    numbers = [(0.02, -7, -128, 127, torch.int8), (1e-3, 127, -128, 127, torch.int8)]
    return [Case(OWN.dequantize_per_tensor, [int8(300)], list(each)) for each in numbers]


FAMILIES = {
    each.__name__: each
    for each in (
        *(adds, muls, choices, tables, linears, products, convs, depthwise_convs),
        *(transposed_convs, pools, softmaxes, data_movement, quantizes, dequantizes),
    )
}
