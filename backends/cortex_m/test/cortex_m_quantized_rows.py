# SPDX-License-Identifier: BSD-3-Clause
"""Rows of passes/table.py on stored values whose scales are chosen. `loss`: products by multipliers of 31 bits are
rounded before they are shifted, in units of 2^-5 quanta or less here."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from typing import Any

import torch
import torch.nn.functional as F
from torch import Tensor

from executorch.backends.test.quantized_calls import Row, Stored, row, weights

X, Y, Z = Stored(0.05, 3), Stored(0.11, -20), Stored(0.09, -128)
PART = Stored(1 / 256, -128)  # of a softmax
S, L, IMAGE = (6, 7), (2, 3, 4), (2, 4, 6, 7)
SCALES = (0.01, 0.003, 0.02, 0.007, 0.013, 0.004, 0.009, 0.006)
SHIFTED = 2.0**-5


def elementwise() -> Iterator[Row]:
    both = [(X, L), (Y, L)]
    yield row("add", torch.add, both, Stored(0.1, -7))
    yield row("add relu", lambda x, y: F.relu(x + y), both, Z)
    yield row("add limits", lambda x, y: (x + y).clamp(-2, 3), both, Stored(0.05, -20))
    yield row("add a value per column", torch.add, [(X, L), (Y, (4,))], Stored(0.1, -7))
    yield row("add a number", torch.add, [(X, S), (Y, (1,))], Stored(0.1, 5))
    yield row("mul", torch.mul, both, Stored(0.2, -7), loss=SHIFTED)
    functions: dict[str, Callable[[Tensor], Tensor]] = {
        "sigmoid": torch.sigmoid,
        "tanh": torch.tanh,
        "silu": F.silu,
        "silu in parts": lambda x: x * torch.sigmoid(x),
        "hardswish": F.hardswish,
        "hardsigmoid": F.hardsigmoid,
        "gelu": F.gelu,
        "gelu tanh": lambda x: F.gelu(x, approximate="tanh"),
        "elu": lambda x: F.elu(x, 0.7),
        "leaky": lambda x: F.leaky_relu(x, 0.2),
        "exp": lambda x: torch.exp(x),
        "log": torch.log,
        "sqrt": torch.sqrt,
        "rsqrt": torch.rsqrt,
        "abs": torch.abs,
        "neg": torch.neg,
    }
    for name, function in functions.items():
        source = Stored(0.03, -128 if name in ("log", "sqrt", "rsqrt") else 3)
        yield row(name, function, [(source, (8, 9))], Stored(0.05, -9))


def softmaxes() -> Iterator[Row]:
    # exp has 26 bits behind the point, sums 19
    for name, sizes, dim in (
        ("softmax", (5, 9), -1),
        ("softmax of channels", (1, 5, 3, 4), 1),
        ("softmax of one place", (2, 6, 1, 1), 1),
        ("softmax of columns", (6, 2, 9), 2),
    ):
        yield row(
            name, lambda x, d=dim: torch.softmax(x, d), [(Stored(0.04, 9), sizes)], PART, loss=0.01
        )


def data_movement() -> Iterator[Row]:
    functions: dict[str, Callable[..., Tensor]] = {
        "average": lambda x: F.avg_pool2d(x, (2, 3)),
        "average padded": lambda x: F.avg_pool2d(x, 3, 2, 1),
        "average uncounted": lambda x: F.avg_pool2d(x, 3, 2, 1, count_include_pad=False),
        "average of all": lambda x: F.avg_pool2d(x, (6, 7)),
        "largest": lambda x: F.max_pool2d(x, 3, 2, 1),
        "largest limited": lambda x: F.relu(F.max_pool2d(x, (2, 3))),
        "pad": lambda x: F.pad(x, (1, 2, 0, 1), value=0.7),
        "pad channels": lambda x: F.pad(x, (0, 0, 1, 0, 2, 1)),
        "cut and pad": lambda x: F.pad(x, (-1, 2, 1, -2), value=-1.0),
        "limits": lambda x: x.clamp(-1, 2),
        "relu": F.relu,
        "permute": lambda x: x.permute(0, 2, 3, 1),
        "cat": lambda x: torch.cat([x, x], 1),
        "slice": lambda x: x[:, :, 1:5:2],
        "flip": lambda x: x.flip(2),
        "largest of rows": lambda x: x.amax(-1),
    }
    for name, function in functions.items():
        yield row(name, function, [(X, IMAGE)], X)
    yield row("minimum", torch.minimum, [(X, L), (X, L)], X)
    yield row("view", lambda x: x.reshape(6, 4), [(X, L)], X)
    yield row("maximum", torch.maximum, [(X, L), (X, (4,))], X)
    pads = {"pad of five": (1, 1), "pad of five by 0.5": (1, 2, 0, 1)}
    for value, (name, amounts) in enumerate(pads.items()):
        pad = lambda x, a=amounts, v=value / 2: F.pad(x, a, value=v)  # noqa: E731
        yield row(name, pad, [(X, (1, 2, 3, 4, 5))], X)
    yield row("cut of three", lambda x: F.pad(x, (-1, 1), value=0.4), [(X, L)], X)


def convolutions() -> Iterator[Row]:
    image, result = (X, (1, 4, 9, 10)), Stored(0.3, -11)

    def conv(
        name: str, *sizes: int, batch: int = 1, area: tuple[int, int] = (9, 10), **options: Any
    ) -> Row:
        return row(
            name,
            lambda x, w, b: F.conv2d(x, w, b, **options),
            [(X, (batch, 4, *area))],
            result,
            weights(X, SCALES[: sizes[0]], *sizes),
            loss=SHIFTED,
        )

    yield conv("conv", 5, 4, 3, 3)
    yield conv("conv padded", 5, 4, 3, 2, padding=1, stride=2, batch=2)
    yield conv("conv of a column", 5, 4, 3, 1, area=(9, 1))
    yield conv("conv of a line", 5, 4, 1, 3, area=(1, 9))
    yield conv("conv of a place", 5, 4, 1, 1, area=(1, 1))
    yield conv("conv dilated", 5, 4, 3, 3, dilation=2, padding=(2, 1))
    yield conv("conv groups", 6, 2, 3, 3, groups=2)
    yield conv("depthwise", 8, 1, 3, 3, groups=4, padding=1)
    yield conv("depthwise of two", 4, 1, 3, 3, groups=4, batch=2)
    yield row(
        "conv relu",
        lambda x, w, b: F.relu(F.conv2d(x, w, b)),
        [image],
        Stored(0.1, -128),
        weights(X, SCALES[:5], 5, 4, 3, 3),
        loss=SHIFTED,
    )
    yield row(
        "transposed",
        lambda x, w, b: F.conv_transpose2d(x, w, b, stride=2, padding=1, output_padding=1),
        [image],
        result,
        weights(X, SCALES[:3], 4, 3, 3, 3, transposed=True),
        loss=SHIFTED,
    )


def products() -> Iterator[Row]:
    result = Stored(0.3, -11)
    linear = {"linear": F.linear, "linear relu": lambda x, w, b: F.relu(F.linear(x, w, b))}
    for name, function in linear.items():
        yield row(
            name, function, [(X, (2, 3, 6))], result, of_one_scale(X, 0.01, 5, 6), loss=SHIFTED
        )
    yield row(
        "linear without bias",
        F.linear,
        [(X, (3, 6))],
        result,
        of_one_scale(X, 0.01, 5, 6)[:1],
        loss=SHIFTED,
    )
    unit = Stored(X.scale * 0.01, 3)  # of sums: what is lost of a bias or a sum is seen whole
    small = [(torch.arange(-2, 3, dtype=torch.int8).reshape(5, 1), Stored(0.01))]
    small += [(torch.arange(-60, 90, 30, dtype=torch.int32), Stored(unit.scale, dtype=torch.int32))]
    yield row("linear in one unit", F.linear, [(X, (40, 1))], unit, small)
    yield row("bmm", torch.bmm, [(X, L), (Y, (2, 4, 5))], Stored(0.3, 11), loss=SHIFTED)


def of_one_scale(stored: Stored, scale: float, *sizes: int) -> list[tuple[Tensor, Stored | None]]:
    """Of a linear layer: weights, and biases."""
    bias = torch.randint(-3000, 3000, sizes[:1], dtype=torch.int32)
    weight = Stored(scale)
    return [(weight.draw(*sizes), weight), (bias, Stored(stored.scale * scale, dtype=torch.int32))]


FAMILIES = {
    each.__name__: each for each in (elementwise, softmaxes, data_movement, convolutions, products)
}
