# SPDX-License-Identifier: BSD-3-Clause
"""Rows of aot/ops.py on stored values whose scales are chosen: unequal ones, zero points at the ends, results that
saturate and results that do not. `loss` is what a row's own arithmetic loses, in quanta of its result."""

from __future__ import annotations

import functools
from collections.abc import Iterator

import torch
import torch.nn.functional as F

from executorch.backends.test.quantized_calls import Row, Stored, row, weights

X, Y, Z = Stored(0.05, 3), Stored(0.11, -20), Stored(0.09, -128)
W, V = Stored(2.0**-9, dtype=torch.int16), Stored(3e-3, dtype=torch.int16)  # around zero
S, L, IMAGE = (6, 7), (2, 3, 4), (2, 4, 6, 7)
# A matmul is rounded in float64 as it is here: what is lost is in multipliers.
_SCALES = (0.01, 0.003, 0.02, 0.007, 0.013, 0.004, 0.009, 0.006)


def sums() -> Iterator[Row]:
    both = [(X, L), (Y, L)]
    yield row("add", torch.add, both, Stored(0.1, -7))
    yield row("add of one scale", torch.add, [(X, L), (X, L)], X)
    yield row("add alpha", lambda x, y: torch.add(x, y, alpha=2), both, Stored(0.2, 5))
    yield row("sub", torch.sub, both, Stored(0.12, 9))
    yield row("sub alpha", lambda x, y: torch.sub(x, y, alpha=-0.3), both, Stored(0.06, 9))
    yield row("sub small alpha", lambda x, y: torch.sub(x, y, alpha=1e-3), both, Stored(0.05, 0))
    yield row("rsub alpha", lambda x, y: torch.rsub(x, y, alpha=3), both, Stored(0.3, 5))
    yield row("add relu", lambda x, y: F.relu(x + y), both, Z)
    yield row("add limits", lambda x, y: (x + y).clamp(-2, 3), both, Stored(0.05, -20))
    yield row("add broadcast", torch.add, [(X, IMAGE), (Y, (4, 1, 1))], Stored(0.1, -7))
    yield row("add wide", torch.add, [(W, S), (V, S)], V)
    yield row("sub wide alpha", lambda x, y: torch.sub(x, y, alpha=2), [(W, S), (V, S)], V)
    yield row("where", lambda x, y: torch.where(x > 0, x, y), both, Stored(0.07, 2))
    same = [(X, L), (X, L)]
    for name in ("eq", "ne", "gt", "ge", "lt", "le"):
        compare = getattr(torch, name)
        yield row(name, compare, same, None)
        with_number = functools.partial(compare, other=0.05 * 40)  # a value that is stored, too
        yield row(f"{name} number", with_number, [(X, (9, 31))], None)
    yield row("gt of one value", lambda x: x > 0.25, [(X, ())], None)
    for name in ("maximum", "minimum"):
        # operands in 2^-8 quanta of the finer one
        yield row(name, getattr(torch, name), both, Stored(0.1, -7), loss=2**-8)


def products() -> Iterator[Row]:
    both = [(X, L), (Y, L)]
    yield row("mul", torch.mul, both, Stored(0.2, -7))
    yield row("mul relu", lambda x, y: F.relu(x * y), both, Stored(0.1, -128))
    yield row("mul wide", torch.mul, [(W, S), (V, S)], Stored(0.07, dtype=torch.int16))
    # a quotient has 15 bits, and 4 below a quantum
    apart = Stored(0.05, -128)
    yield row("div", torch.div, [(X, S), (apart, S)], Stored(0.05, 3), loss=0.51)
    yield row("div number", lambda x: x / 3.0, [(X, S)], Stored(0.02, 1))
    yield row("abs", torch.abs, [(X, S)], Stored(0.026, -128))
    yield row("neg", torch.neg, [(X, S)], Stored(0.06, 4))
    yield row("relu", F.relu, [(X, S)], Stored(0.025, -128))
    yield row("relu as it was", F.relu, [(X, S)], X)
    yield row("hardtanh", lambda x: F.hardtanh(x, -1, 2), [(X, S)], Stored(0.04, 7))
    yield row("clamp above", lambda x: x.clamp(max=1.3), [(X, S)], X)
    yield row("requantize", lambda x: X.between(x.flip(0)), [(X, S)], Y)
    yield row("mm", torch.mm, [(X, (3, 9)), (Y, (9, 5))], Stored(0.5, 11))
    yield row("bmm", torch.bmm, [(X, L), (Y, (2, 4, 5))], Stored(0.3, 11))
    yield row("matmul", torch.matmul, [(X, (2, 1, 3, 4)), (Y, (3, 4, 2))], Stored(0.3, 0))
    yield row("bmm wide", torch.bmm, [(W, L), (V, (2, 4, 5))], Stored(0.9, dtype=torch.int16))
    yield row("cumsum", lambda x: x.cumsum(-1), [(X, IMAGE)], Stored(0.2, 5))


def tables() -> Iterator[Row]:
    every = (16, 16)
    functions = {
        "sigmoid": torch.sigmoid,
        "exp limited": lambda x: x.exp().clamp(0.5, 9),
        "elu": lambda x: F.elu(x, 0.7),
        "gelu tanh": lambda x: F.gelu(x, approximate="tanh"),
        "leaky": lambda x: F.leaky_relu(x, 0.2),
        "softplus": lambda x: F.softplus(x, 2.0, 5.0),
        "mish": F.mish,
        "log sigmoid": F.logsigmoid,
        "power": lambda x: x**3,
        "of a power": lambda x: 2.0**x,
        "remainder": lambda x: x % 1.5,
        "logit": lambda x: torch.logit(x, 1e-2),
        "hardswish": F.hardswish,
    }
    for name, function in functions.items():
        yield row(name, function, [(X, every)], Stored(0.05, -9))
    fine = Stored(2.0**-13, dtype=torch.int16)
    # a point of 513 is rounded, and a line between two is 128 quanta long: 2^-6 squared / 8 * 2^14 * 0.77
    yield row(
        "tanh wide", torch.tanh, [(fine, (99, 99))], Stored(2.0**-14, dtype=torch.int16), loss=0.9
    )


def layers() -> Iterator[Row]:
    image = (X, (1, 4, 9, 10))
    result = Stored(0.3, -11)

    def conv(name: str, *sizes: int, **options: object) -> Row:
        function = F.conv2d if len(sizes) == 4 else F.conv1d if len(sizes) == 3 else F.conv3d
        source = {3: (X, (1, 4, 12)), 4: image, 5: (X, (1, 2, 4, 5, 6))}[len(sizes)]
        return row(
            name,
            lambda x, w, b: function(x, w, b, **options),
            [source],
            result,
            weights(X, _SCALES[: sizes[0]], *sizes),
        )

    yield conv("conv", 5, 4, 3, 3)
    yield conv("conv padded", 5, 4, 3, 2, padding=1, stride=2)
    yield conv("conv stride", 5, 4, 2, 3, stride=3)
    yield conv("conv dilated", 5, 4, 3, 3, dilation=2, padding=2)
    yield conv("conv groups", 6, 2, 3, 3, groups=2)
    yield conv("depthwise", 8, 1, 3, 3, groups=4, padding=1)
    yield conv("conv1d", 6, 4, 3, padding=1)
    yield conv("conv3d", 3, 2, 2, 2, 2)
    yield row(
        "conv in one unit",  # of sums: what is lost of a bias is seen whole
        lambda x, w, b: F.conv2d(x, w, b),
        [(X, (1, 1, 3, 3))],
        Stored(0.05 * 0.01 * 40, 3),
        weights(X, [0.01], 1, 1, 1, 1),
    )
    unit = 0.05 * 0.01  # 20.9 of it are 21: a bias that is cut off is nearly one less
    yield row(
        "conv of a bias in floats",
        lambda x, w, b: F.conv2d(x, w, b.to(x)),
        [(X, (1, 1, 3, 3))],
        Stored(unit, 3),
        [
            (torch.ones(1, 1, 1, 1, dtype=torch.int8), Stored((0.01,))),
            (torch.tensor([20.9 * unit]), None),
        ],
    )
    yield row(
        "transposed",
        lambda x, w, b: F.conv_transpose2d(x, w, b, stride=2, padding=1, output_padding=1),
        [image],
        result,
        weights(X, _SCALES[:3], 4, 3, 3, 3, transposed=True),
    )
    yield row(
        "transposed groups",
        lambda x, w, b: F.conv_transpose2d(x, w, b, groups=2),
        [image],
        result,
        weights(X, _SCALES[:3], 4, 3, 3, 3, transposed=True, groups=2),
    )
    yield row("linear", F.linear, [(X, (3, 6))], result, weights(X, _SCALES[:5], 5, 6))
    yield row(
        "linear relu",
        lambda x, w, b: F.relu(F.linear(x, w, b)),
        [(X, (2, 3, 6))],
        Stored(0.1, -128),
        weights(X, _SCALES[:5], 5, 6),
    )
    yield row(
        "linear without bias", F.linear, [(X, (3, 6))], result, weights(X, _SCALES[:5], 5, 6)[:1]
    )
    yield row(
        "conv wide",
        lambda x, w, b: F.conv2d(x, w, b),
        [(W, (1, 3, 5, 6))],
        Stored(2e-3, dtype=torch.int16),
        weights(W, _SCALES[:4], 4, 3, 2, 2),
        loss=0.5,  # multipliers of 15 bits: 2^15 quanta times 2^-16
    )


def data_movement() -> Iterator[Row]:
    x = [(X, IMAGE)]
    functions = {
        "view": lambda x: X.between(x.flip(1)).reshape(8, 42),
        "permute": lambda x: x.permute(0, 2, 3, 1),
        "transpose": lambda x: x.transpose(1, 3),
        "cat": lambda x: torch.cat([x, x], 1),
        "stack": lambda x: torch.stack([x, x], 2),
        "slice": lambda x: x[:, 1:3],
        "slice to the end": lambda x: x[..., -3:],
        "slice step": lambda x: x[:, :, 1::2],
        "slice step beyond": lambda x: x[..., ::3],
        "select": lambda x: x[:, -2],
        "expand": lambda x: X.between(x[:, :1]).expand(2, 3, 6, 7),
        "repeat": lambda x: x.repeat(1, 2, 1, 3),
        "flip": lambda x: x.flip([1, 3]),
        "roll": lambda x: torch.roll(x, (2, -1), (3, 1)),
        "pad": lambda x: F.pad(x, (1, 2, 0, 1), value=0.7),
        "cut and pad": lambda x: F.pad(x, (-1, 2, 1, -2)),
        "pixel shuffle": lambda x: F.pixel_shuffle(x, 2),
        "pixel unshuffle": lambda x: F.pixel_unshuffle(X.between(x[..., :6]), 3),
        "index": lambda x: torch.index_select(x, 1, torch.tensor([0, 3, 2])),
        "largest": lambda x: x.amax((1, 3)),
        "least": lambda x: x.amin(-1, keepdim=True),
        "split": lambda x: torch.split(x, [1, 3], 1)[1],
        "squeeze": lambda x: X.between(X.between(x[:1]).squeeze(0)).unsqueeze(2),
        "nearest": lambda x: F.interpolate(x, scale_factor=2),
        "nearest odd": lambda x: F.interpolate(x, size=(5, 11)),
    }
    for name, function in functions.items():
        yield row(name, function, x, X)
    yield row("cat of scales", lambda x, y: torch.cat([x, y], -1), [(X, S), (Y, S)], Stored(0.1, 5))
    yield row("flip rescaled", lambda x: x.flip(0), [(X, S)], Stored(0.04, 9))


def turns() -> Iterator[Row]:
    """Transposes as Ethos-U55 takes them."""
    for sizes, order in (
        ((2, 3, 4, 5, 6), (4, 2, 0, 3, 1)),
        ((2, 3, 4, 5, 2, 3), (5, 3, 1, 4, 2, 0)),
        ((3, 2, 2, 3, 1, 2), (1, 0, 4, 3, 2, 5)),
        ((1, 1, 3, 3, 4, 5), (0, 1, 4, 2, 5, 3)),
        ((65537, 2), (1, 0)),
        ((2, 65537, 2), (2, 1, 0)),
        ((256, 257, 2), (2, 0, 1)),
    ):
        yield row(f"{sizes} {order}", lambda x, o=order: x.permute(o), [(X, sizes)], X)
    yield row(
        "long strides",
        lambda x, w, b: F.conv2d(x, w, b, stride=4, padding=1),
        [(X, (1, 2, 9, 9))],
        Stored(0.2, -11),
        weights(X, _SCALES[:3], 3, 2, 3, 3),
    )


def along_axes() -> Iterator[Row]:
    x = [(X, (1, 4, 8, 9))]
    functions = {
        "mean": lambda x: x.mean((2, 3)),
        "mean kept": lambda x: x.mean(1, keepdim=True),
        "mean of all": lambda x: x.mean(),
        "adaptive": lambda x: F.adaptive_avg_pool2d(x, (2, 3)),
        "adaptive to one": lambda x: F.adaptive_avg_pool2d(x, 1),
        "adaptive uneven": lambda x: F.adaptive_avg_pool2d(x, 5),
        "averages": lambda x: F.avg_pool2d(x, (2, 3)),
        "averages padded": lambda x: F.avg_pool2d(x, 3, 2, 1),
        "averages divided": lambda x: F.avg_pool2d(x, 3, 1, divisor_override=7),
        "averages of all": lambda x: F.avg_pool2d(x, 20, ceil_mode=True),
        "averages uncounted": lambda x: F.avg_pool2d(x, 3, 1, 1, count_include_pad=False),
        "averages beyond": lambda x: F.avg_pool2d(x, 3, 2, ceil_mode=True),
        "averages uncounted, divided": lambda x: F.avg_pool2d(x, 3, 1, 1, False, False, 7),
        "averages beyond, divided": lambda x: F.avg_pool2d(x, 3, 2, 0, True, True, 7),
    }
    for name, function in functions.items():
        yield row(name, function, x, Stored(0.02, 6))
    yield row("mean of few", lambda x: x.mean(-1), [(X, (40, 2))], Stored(0.06, 6))
    yield row("sum", lambda x: x.sum(1, keepdim=True), x, Stored(0.15, 6))
    pools = {
        "largest of 2": lambda x: F.max_pool2d(x, 2),
        "largest padded": lambda x: F.max_pool2d(x, 3, 2, 1),
        "largest dilated": lambda x: F.max_pool2d(x, (2, 3), 1, 1, dilation=(2, 1)),
        "largest beyond": lambda x: F.max_pool2d(x, 3, 2, ceil_mode=True),
    }
    for name, function in pools.items():
        yield row(name, function, x, X)
    yield row(
        "bilinear",
        lambda x: F.interpolate(x, scale_factor=2, mode="bilinear"),
        x,
        Stored(0.04, 9),
    )
    yield row(
        "bilinear aligned",
        lambda x: F.interpolate(x, size=(15, 17), mode="bilinear", align_corners=True),
        x,
        Stored(0.04, 9),
    )


def norms() -> Iterator[Row]:
    x, wide = [(X, (3, 4, 8))], [(W, (3, 4, 8))]
    part, around = Stored(1 / 256, -128), Stored(0.03, -4)
    scale, shift = torch.linspace(-1.5, 2, 8), torch.linspace(0.4, -1, 8)
    channels = [(scale[:4], None), (shift[:4], None)]
    finer = Stored(2.0**-13, dtype=torch.int16)
    yield row(
        "softmax", lambda x: torch.softmax(x, -1), [(Stored(0.03, 5), (6, 9))], part, loss=0.02
    )
    yield row("softmax over rows", lambda x: torch.softmax(x, 1), x, part, loss=0.02)
    yield row(
        "softmax wide",
        lambda x: torch.softmax(x, -1),
        wide,
        Stored(2.0**-15, dtype=torch.int16),
        loss=1,
    )
    yield row("log softmax", lambda x: torch.log_softmax(x, -1), x, Stored(0.06, 120), loss=0.02)
    yield row("variance", lambda x: x.var(1), x, Stored(0.1, -128), loss=0.02)
    yield row(
        "variance of all", lambda x: x.var((1, 2), correction=0), x, Stored(0.1, -128), loss=0.02
    )
    yield row("layer norm", lambda x: F.layer_norm(x, (8,)), x, around, loss=0.05)
    yield row(
        "layer norm scaled",
        lambda x, w, b: F.layer_norm(x, (8,), w.to(x), b.to(x), eps=0.1),
        x,
        around,
        [(scale, None), (shift, None)],
        loss=0.05,
    )
    yield row("layer norm wide", lambda x: F.layer_norm(x, (8,)), wide, finer, loss=0.05)
    yield row(
        "group norm",
        lambda x, w, b: F.group_norm(x, 2, w.to(x), b.to(x)),
        [(X, (2, 4, 5))],
        around,
        channels,
        loss=0.05,
    )
    yield row("rms norm", lambda x: F.rms_norm(x, (8,), eps=0.2), x, around, loss=0.05)
    mean, var = (torch.tensor(each) for each in ((0.5, -1.0, 0.0, 2.0), (0.5, 1.0, 4.0, 2.0)))
    yield row(
        "batch norm",
        lambda x, w, b, m, v: F.batch_norm(x, m.to(x), v.to(x), w.to(x), b.to(x), eps=0.1),
        [(X, (2, 4, 5, 6))],
        around,
        [*channels, (mean, None), (var, None)],
        loss=0.01,
    )


FAMILIES = {
    each.__name__: each
    for each in (sums, products, tables, layers, data_movement, turns, along_axes, norms)
}
