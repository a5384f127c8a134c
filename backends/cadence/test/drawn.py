# SPDX-License-Identifier: BSD-3-Clause
"""Arguments of every operator, drawn by a number: `arguments(name, seed)`. Seed 0 is a small case in the middle; of
others some saturate."""

from __future__ import annotations

import random
from collections.abc import Callable, Sequence
from typing import Any

import torch
from torch import Tensor

_TYPES = (torch.int8, torch.uint8, torch.int16)
_WIDTHS = {
    "8s": torch.int8,
    "8u": torch.uint8,
    "16s": torch.int16,
    "16u": torch.uint16,
    "32s": torch.int32,
}


class Draw:
    """`dtype`: what the operator's name says, else any."""

    def __init__(self, name: str, seed: int) -> None:
        self.name = name
        self.random = random.Random(f"{name}/{seed}")
        self.generator = torch.Generator().manual_seed(self.random.getrandbits(31))
        widths = [dtype for end, dtype in _WIDTHS.items() if f"asym{end}" in name]
        self.dtype = widths[0] if widths else _TYPES[seed % 3]

    def stored(self, *sizes: int, dtype: torch.dtype | None = None) -> Tensor:
        info = torch.iinfo(dtype or self.dtype)
        made = torch.randint(info.min, info.max + 1, sizes, generator=self.generator)
        return made.to(dtype or self.dtype)

    def floats(self, *sizes: int) -> Tensor:
        return torch.randn(*sizes, generator=self.generator)

    def bias(self, count: int) -> Tensor:
        return torch.randint(-3000, 3000, (count,), dtype=torch.int32, generator=self.generator)

    def point(self, dtype: torch.dtype | None = None) -> int:
        info = torch.iinfo(dtype or self.dtype)
        return self.random.randint(max(info.min, -1000), min(info.max, 1000))

    def scale(self) -> float:
        return 2.0 ** self.random.uniform(-7, 1)

    def size(self, most: int = 5) -> int:
        return self.random.randint(1, most)

    def multiplier(self, sums: int = 1) -> list[int]:
        """(multiplier, shift) under which results of `sums` products fill the dtype, or saturate."""
        bits = torch.iinfo(self.dtype).bits
        shift = self.random.randint(-bits - sums.bit_length(), 1 if sums == 1 else 2 - bits)
        return [self.random.randint(1 << 30, (1 << 31) - 1), shift]


def _one(value: float) -> Tensor:
    return torch.tensor([value], dtype=torch.float32 if isinstance(value, float) else torch.int32)


def _in_tensors(values: Sequence[Any], places: Sequence[int]) -> tuple[Any, ...]:
    return tuple(_one(each) if place in places else each for place, each in enumerate(values))


def _quantize(draw: Draw) -> tuple[Any, ...]:
    info = torch.iinfo(draw.dtype)
    limits = info.min, info.max
    shape = (draw.size(), draw.size(9))
    if draw.name.startswith("quantize_"):
        return (draw.floats(*shape) * 100, draw.scale(), draw.point(), *limits, draw.dtype)
    return (draw.stored(*shape), draw.scale(), draw.point(), *limits, draw.dtype)


def _requantize(draw: Draw) -> tuple[Any, ...]:
    into = draw.random.choice([*_WIDTHS.values()][:4])
    x = draw.stored(draw.size(), draw.size(9))
    values = (x, draw.scale(), draw.point(), draw.scale(), draw.point(into), into)
    return values if "per_tensor" in draw.name else _in_tensors(values, (1, 2, 3, 4))


def _relu(draw: Draw) -> tuple[Any, ...]:
    x = draw.stored(draw.size(), draw.size(9))
    values = (x, draw.point(), draw.point(), *draw.multiplier())
    return values if "per_tensor" in draw.name else _in_tensors(values, (1, 3, 4))


def _two(draw: Draw) -> tuple[Any, ...]:
    rows, columns = draw.size(), draw.size(9)
    shapes = [
        ((rows, columns), (rows, columns)),
        ((rows, 1), (columns,)),
        ((columns,), (2, rows, columns)),
    ]
    first, second = draw.random.choice(shapes)
    left = (draw.stored(*first), draw.scale(), draw.point())
    right = (draw.stored(*second), draw.scale(), draw.point())
    values = (*left, *right, draw.scale(), draw.point())
    return values if "per_tensor" in draw.name else _in_tensors(values, (1, 2, 4, 5))


def _scalar(draw: Draw) -> tuple[Any, ...]:
    x = draw.stored(draw.size(), draw.size(9))
    values = (x, draw.scale(), draw.point(), draw.random.uniform(-2, 2), draw.scale(), draw.point())
    return _in_tensors(values, (1, 2))


def _linear(draw: Draw) -> tuple[Any, ...]:
    inputs, outputs = draw.size(40), draw.size()
    rows = (1,) if "fully" in draw.name else (draw.size(), draw.size())
    weight = torch.int8 if draw.dtype == torch.int16 else draw.dtype
    tensors = (
        draw.stored(*rows, inputs),
        draw.stored(outputs, inputs, dtype=weight),
        draw.bias(outputs),
    )
    numbers = (draw.multiplier(inputs), draw.point(weight))
    if "per_tensor" in draw.name:
        return (*tensors, draw.point(), numbers[1], *numbers[0], draw.point(), None)
    multiplier, shift = (torch.full((outputs,), each, dtype=torch.int32) for each in numbers[0])
    return (*tensors, draw.point(), _one(numbers[1]), multiplier, shift, draw.point(), None)


def _matmul(draw: Draw) -> tuple[Any, ...]:
    m, k, n = draw.size(), draw.size(30), draw.size()
    batch, transposed = draw.random.choice([(), (2,), (2, 3)]), draw.random.random() < 0.5
    right = draw.stored(*batch, n, k) if transposed else draw.stored(*batch, k, n)
    left = (draw.stored(*batch, m, k), draw.point())
    return (*left, right, draw.point(), None, *draw.multiplier(k), draw.point(), transposed)


def _floats_linear(draw: Draw) -> tuple[Any, ...]:
    inputs, outputs = draw.size(20), draw.size()
    return draw.floats(1, inputs), draw.floats(outputs, inputs), draw.floats(outputs)


def _window(draw: Draw, rank: int) -> tuple[list[int], list[int], list[int], list[int]]:
    """Sizes of the kernel, strides, paddings, dilations."""
    lists = [
        [draw.random.randint(*limits) for _ in range(rank)]
        for limits in ((1, 3), (1, 2), (0, 1), (1, 2))
    ]
    if "dilated" in draw.name:
        lists[3][0] = 2
    return lists[0], lists[1], lists[2], lists[3]


def _conv(draw: Draw) -> tuple[Any, ...]:
    is_quantized, is_last = "quantized" in draw.name, "nhwc" in draw.name or "nlc" in draw.name
    rank = next(int(each) for each in draw.name.partition("conv")[2] if each.isdigit())
    kernel, stride, padding, dilation = _window(draw, rank)
    is_depthwise = "depthwise" in draw.name
    depth = 1 if is_depthwise else draw.size(3)
    groups = draw.size(3) + 1 if is_depthwise else draw.size(2)
    outputs = groups * draw.size(1 if is_depthwise else 3)
    image = (draw.size(2), depth * groups, *(draw.random.randint(6, 8) for _ in kernel))
    weights = (outputs, depth, *kernel)
    made = [_tensor(draw, each) for each in (image, weights)]
    if is_last:
        made = [each.movedim(1, -1).contiguous() for each in made]
    if is_last and is_depthwise and rank == 2:
        made[1] = made[1].squeeze(-1).movedim(0, -1).contiguous()
    if not is_quantized:
        return (*made, draw.floats(outputs), stride, padding, dilation, groups)
    values = (*made, draw.bias(outputs), stride, padding, dilation, groups)
    numbers = (
        draw.point(),
        draw.point(),
        draw.scale() / 50,
        draw.scale() * 20,
        draw.point(),
        *draw.multiplier(),
    )
    by_number = "per_tensor" in draw.name or draw.name == "quantized_conv2d_depthwise_nhwc"
    return (*values, *(numbers if by_number else _in_tensors(numbers, (1, 2, 5, 6))))


def _tensor(draw: Draw, sizes: tuple[int, ...]) -> Tensor:
    return draw.stored(*sizes) if "quantized" in draw.name else draw.floats(*sizes)


def _transposed_conv(draw: Draw) -> tuple[Any, ...]:
    rank, groups = draw.random.choice([1, 2]), draw.size(2)
    kernel, stride, padding, dilation = _window(draw, rank)
    padding = [min(p, d * (k - 1)) for p, d, k in zip(padding, dilation, kernel, strict=True)]
    inputs, outputs = groups * draw.size(3), groups * draw.size(2)
    extra = [s - 1 for s in stride]
    image = _tensor(draw, (draw.size(2), inputs, *(draw.random.randint(3, 5) for _ in kernel)))
    weight = _tensor(draw, (outputs // groups, inputs, *kernel))
    lists = (stride, padding, dilation, extra, groups)
    is_last = draw.random.random() < 0.3
    if is_last:
        image, weight = (each.movedim(1, -1).contiguous() for each in (image, weight))
    if "quantized" not in draw.name:
        return (image, weight, draw.floats(outputs), *lists, is_last)
    numbers = (
        draw.point(),
        draw.point(),
        draw.scale() / 50,
        draw.scale() * 20,
        draw.point(),
        *draw.multiplier(),
    )
    return (image, weight, draw.bias(outputs), *lists, *_in_tensors(numbers, (1, 2, 5, 6)), is_last)


def _max_pool(draw: Draw) -> tuple[Any, ...]:
    kernel, stride, padding, dilation = _window(draw, 2)
    padding = [min(p, k // 2) for p, k in zip(padding, kernel, strict=True)]
    image = draw.stored(draw.size(2), draw.size(3), draw.random.randint(6, 8), 7)
    if "nhwc" in draw.name:
        image = image.movedim(1, -1).contiguous()
    return image, kernel, stride, padding, dilation, draw.random.random() < 0.5


def _avg_pool(draw: Draw) -> tuple[Any, ...]:
    kernel, stride, padding, _ = _window(draw, 2)
    padding = [min(p, k // 2) for p, k in zip(padding, kernel, strict=True)]
    sizes = (draw.size(2), draw.size(3), draw.random.randint(5, 7), 6)
    options = (
        draw.random.random() < 0.5,
        draw.random.random() < 0.5,
        draw.random.choice([None, 3]),
    )
    if draw.random.random() < 0.5:
        return draw.floats(*sizes), kernel, stride, padding, *options, None, False
    return draw.stored(*sizes), kernel, stride, padding, *options, _one(draw.point()), False


def _layer_norm(draw: Draw) -> tuple[Any, ...]:
    width = draw.size(20) + 1
    x = (draw.stored(draw.size(), draw.size(), width), draw.scale(), draw.point())
    values = (*x, [width], draw.floats(width), draw.floats(width), 1e-5, draw.scale(), draw.point())
    return values if "per_tensor" in draw.name else _in_tensors(values, (1, 2))


def _softmax(draw: Draw) -> tuple[Any, ...]:
    x = draw.stored(draw.size(), draw.size(), 16)
    numbers = (
        draw.scale(),
        draw.point(),
        1 / torch.iinfo(draw.dtype).max,
        torch.iinfo(draw.dtype).min,
    )
    numbers = numbers if "per_tensor" in draw.name else _in_tensors(numbers, range(4))
    mask_type = draw.random.choice([0, 1])
    mask = torch.zeros(16 // 16 * x.shape[0] * x.shape[1], dtype=torch.int32)
    pos = torch.tensor([draw.random.randint(0, 4)])
    return (x, mask, 2, mask_type, pos, *numbers)


def _im2row(draw: Draw) -> tuple[Any, ...]:
    kernel, stride, padding, dilation = _window(draw, 2)
    is_last = draw.random.random() < 0.5
    image = draw.stored(draw.size(2), draw.size(3), draw.random.randint(5, 6), 7)
    image = image.movedim(1, -1).contiguous() if is_last else image
    padding = [min(each) for each in zip(padding, [d * (k - 1) for d, k in zip(dilation, kernel)])]
    lists = (kernel, dilation, padding, stride)
    if draw.name == "transposed_im2row":
        return (image, *lists, [s - 1 for s in stride], _one(draw.point()), is_last)
    point = draw.point()
    return (image, *lists, point if "per_tensor" in draw.name else _one(point), is_last)


def _embedding(draw: Draw) -> tuple[Any, ...]:
    groups = draw.random.choice([1, 2])
    draw.dtype = draw.random.choice([torch.int8, torch.uint8])
    shape = (6,) if groups == 1 else (6, groups)
    scales = draw.floats(*shape).abs()
    points = draw.random.choice([None, draw.floats(*shape).round()])
    indices = torch.randint(0, 6, (draw.size(), 2), generator=draw.generator)
    return draw.stored(6, 8), scales, points, indices, False


def _w8a32(draw: Draw) -> tuple[Any, ...]:
    draw.dtype = torch.int8
    channels, outputs = 4 * draw.size(3), 4 * draw.size(2)
    scales = draw.scale(), draw.scale()
    if "linear" in draw.name:
        x, weight = draw.floats(draw.size(), 1, channels), draw.stored(channels, outputs)
        return x, weight, scales[0], draw.stored(outputs), scales[1]
    if "conv" in draw.name:
        x, weight = draw.floats(draw.size(), 3, channels), draw.stored(3, outputs, channels)
        return x, weight, scales[0], draw.stored(outputs), scales[1]
    states = (draw.floats(1, channels), draw.floats(1, outputs))
    weights = [draw.stored(3 * outputs, each) for each in (channels, outputs)]
    biases = [draw.stored(3 * outputs) for _ in range(2)]
    return (*states, weights[0], 0.01, weights[1], 0.02, biases[0], 0.01, biases[1])


def _rope(draw: Draw) -> tuple[Any, ...]:
    length, half = draw.size(), draw.size(4)
    pos = draw.random.choice([None, torch.randint(0, 9, (length,), generator=draw.generator)])
    rows = length if pos is None else 9
    x = draw.floats(1, length, draw.size(3), 2 * half)
    return x, draw.floats(rows, half), draw.floats(rows, half), pos


def _mask(draw: Draw) -> tuple[Any, ...]:
    values = draw.floats(draw.size(), 16)
    return draw.random.choice([values, values > 0]), 0.1


def _dma(draw: Draw) -> tuple[Any, ...]:
    return draw.stored(3, 4), 1, *(() if draw.name.endswith("wait") else (2,))


def _where(draw: Draw) -> tuple[Any, ...]:
    return draw.floats(draw.size(), 7) > 0, draw.scale(), -draw.scale()


def _svd(draw: Draw) -> tuple[Any, ...]:
    return (draw.floats(2, draw.size(), draw.size()),)


# By how names begin; the first that fits.
_FAMILIES: dict[str, Callable[[Draw], tuple[Any, ...]]] = {
    "quantize_": _quantize,
    "dequantize_": _quantize,
    "requantize": _requantize,
    "quantized_relu": _relu,
    "quantized_add_Scalar": _scalar,
    "quantized_mul_Scalar": _scalar,
    "quantized_add": _two,
    "quantized_mul": _two,
    "quantized_linear": _linear,
    "quantized_fully": _linear,
    "quantized_matmul": _matmul,
    "fully_connected": _floats_linear,
    "quantized_transposed_conv": _transposed_conv,
    "transposed_conv": _transposed_conv,
    "transposed_im2row": _im2row,
    "im2row": _im2row,
    "quantized_max_pool": _max_pool,
    "avg_pool2d": _avg_pool,
    "quantized_layer_norm": _layer_norm,
    "quantized_softmax": _softmax,
    "_softmax": lambda draw: (draw.floats(3, 4, 5), draw.random.randint(0, 2), False),
    "quantized_embedding": _embedding,
    "quantized_w8a32": _w8a32,
    "quantized_conv": _conv,
    "quantized_depthwise": _conv,
    "conv": _conv,
    "rope": _rope,
    "sdpa": _mask,
    "idma": _dma,
    "where": _where,
    "linalg_svd": _svd,
}


def arguments(name: str, seed: int = 0) -> tuple[Any, ...]:
    """Of the functional form, such as quantized_linear.per_tensor."""
    draw = next(each for start, each in _FAMILIES.items() if name.startswith(start))
    return draw(Draw(name, seed))
