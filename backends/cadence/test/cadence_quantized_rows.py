# SPDX-License-Identifier: BSD-3-Clause
"""Rows of aot/table.py on stored values whose scales are chosen. `loss`: results are rounded in float32, whose steps
are 2^-17 quanta of 8 bits; multipliers of 31 bits are exact beside that."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import torch
import torch.nn.functional as F
from torch import Tensor

from executorch.backends.test.quantized_calls import Row, Stored, row

X, Y, Z = Stored(0.05, 3), Stored(0.11, -20), Stored(0.09, -128)
U, V = Stored(0.03, 120, torch.uint8), Stored(0.06, 7, torch.uint8)
W = Stored(2.0**-10, -300, torch.int16)
L, S = (2, 3, 4), (6, 9)


def of(
    x: Stored, *sizes: int, scale: float = 0.01, point: int = 0
) -> list[tuple[Tensor, Stored | None]]:
    """Weights, of int8 beside int16, and biases in the product of both scales."""
    weight = Stored(scale, point, torch.int8 if x.dtype == torch.int16 else x.dtype)
    bias = torch.randint(-3000, 3000, sizes[:1], dtype=torch.int32)
    return [(weight.draw(*sizes), weight), (bias, Stored(x.scale * scale, dtype=torch.int32))]


def products() -> Iterator[Row]:
    result = Stored(0.3, -11)
    yield row("linear", F.linear, [(X, (2, 3, 6))], result, of(X, 5, 6))
    yield row("linear of affine weights", F.linear, [(X, S)], result, of(X, 5, 9, point=-7))
    yield row("linear without bias", F.linear, [(X, S)], result, of(X, 5, 9)[:1])
    yield row(
        "linear of uint8", F.linear, [(U, S)], Stored(0.3, 130, torch.uint8), of(U, 5, 9, point=9)
    )
    yield row(
        "linear of int16",
        F.linear,
        [(W, S)],
        Stored(0.02, 500, torch.int16),
        of(W, 5, 9),
        loss=0.05,
    )
    relu = lambda x, w, b: F.relu(F.linear(x, w, b))  # noqa: E731
    yield row("linear relu", relu, [(X, S)], Stored(0.1, -128), of(X, 5, 9))
    yield row("bmm", torch.bmm, [(X, L), (Y, (2, 4, 5))], Stored(0.3, 11))
    yield row("mm", torch.mm, [(X, (3, 4)), (Y, (4, 5))], Stored(0.3, 11))
    wide = Stored(0.02, -1200, torch.int16)
    yield row("bmm of int16", torch.bmm, [(W, L), (W, (2, 4, 5))], wide, loss=0.1)
    unit = Stored(X.scale * 0.01, 3)  # of sums: what is lost of a bias is seen whole
    small = [(torch.arange(-2, 3, dtype=torch.int8).reshape(5, 1), Stored(0.01))]
    small += [(torch.arange(-60, 90, 30, dtype=torch.int32), Stored(unit.scale, dtype=torch.int32))]
    yield row("linear in one unit", F.linear, [(X, (40, 1))], unit, small)


def convolutions() -> Iterator[Row]:
    result = Stored(0.3, -11)

    def conv(name: str, *sizes: int, groups: int = 1, **options: Any) -> Row:
        function = F.conv2d if len(sizes) == 4 else F.conv1d
        image = (2, sizes[1] * groups, 9) + ((8,) if len(sizes) == 4 else ())
        return row(
            name,
            lambda x, w, b: function(x, w, b, groups=groups, **options),
            [(X, image)],
            result,
            of(X, *sizes),
        )

    yield conv("conv", 5, 4, 3, 3)
    yield conv("conv padded", 5, 4, 3, 2, padding=(1, 0), stride=(2, 1))
    yield conv("conv dilated", 5, 4, 3, 3, dilation=(2, 1), padding=2)
    yield conv("conv groups", 6, 2, 3, 3, groups=3)
    yield conv("depthwise", 4, 1, 3, 3, groups=4, padding=1)
    yield conv("conv1d", 6, 4, 3, padding=1, stride=2)
    yield conv("conv1d groups", 6, 2, 3, groups=3)
    yield conv("depthwise conv1d", 8, 1, 3, groups=4, dilation=2)


def elementwise() -> Iterator[Row]:
    both = [(X, L), (Y, L)]
    yield row("add", torch.add, both, Stored(0.1, -7))
    yield row("add relu", lambda x, y: F.relu(x + y), both, Z)
    yield row("add broadcast", torch.add, [(X, L), (Y, (4,))], Stored(0.1, -7))
    yield row("add of uint8", torch.add, [(U, L), (V, L)], Stored(0.05, 99, torch.uint8))
    yield row(
        "add of int16", torch.add, [(W, L), (W, L)], Stored(2.0**-9, 7, torch.int16), loss=0.02
    )
    yield row("relu", F.relu, [(X, S)], Stored(0.025, -128))
    yield row("relu of uint8", F.relu, [(U, S)], Stored(0.02, 0, torch.uint8))
    yield row("cat", lambda x, y: torch.cat([x, y], 1), [(X, L), (X, L)], X)
    yield row("another scale", lambda x: X.between(x.flip(0)), [(X, S)], Y)
    pools = {
        "largest": lambda x: F.max_pool2d(x, 3, 2, 1),
        "largest dilated": lambda x: F.max_pool2d(x, (2, 3), 1, 1, dilation=(2, 1)),
        "largest beyond": lambda x: F.max_pool2d(x, 3, 2, ceil_mode=True),
    }
    for name, function in pools.items():
        yield row(name, function, [(X, (2, 3, 7, 6))], X)


def rows_of_values() -> Iterator[Row]:
    around = Stored(0.03, -4)
    scale, shift = torch.linspace(-1.5, 2, 9), torch.linspace(0.4, -1, 9)
    scaled = [(scale, None), (shift, None)]
    yield row("layer norm", lambda x: F.layer_norm(x, (9,)), [(X, S)], around, loss=2e-3)
    yield row(
        "layer norm scaled",
        lambda x, w, b: F.layer_norm(x, (9,), w.to(x), b.to(x), eps=0.1),
        [(X, S)],
        around,
        scaled,
        loss=2e-3,
    )
    norm = lambda x: F.layer_norm(x, (3, 4))  # noqa: E731
    yield row(
        "layer norm of two dimensions", norm, [(U, L)], Stored(0.03, 99, torch.uint8), loss=2e-3
    )
    part = Stored(1 / 256, -128)
    yield row("softmax", lambda x: x.softmax(-1), [(Stored(0.04, 9), (6, 16))], part, loss=2e-3)
    wide = Stored(2.0**-16, -32768, torch.int16)
    yield row("softmax of int16", lambda x: x.softmax(-1), [(W, (6, 16))], wide, loss=0.1)


FAMILIES = {each.__name__: each for each in (products, convolutions, elementwise, rows_of_values)}
