# SPDX-License-Identifier: BSD-3-Clause
"""Small modules, one or more for each row of aot/ops.py: a name, a module, inputs, and limits of the inputs."""

from __future__ import annotations

import functools
from collections.abc import Callable, Iterator
from typing import Any

import torch
import torch.nn.functional as F
from torch import Tensor, nn

from executorch.backends.test.corpus.row import Function

Case = tuple[str, nn.Module, tuple[Tensor, ...]]
IMAGE = (1, 4, 6, 6)


def values(shape: tuple[int, ...], low: float = -2, high: float = 2) -> Tensor:
    return torch.rand(shape) * (high - low) + low


_ANYWHERE = """abs ceil cos erf exp floor neg sin tanh sigmoid sign round expm1 sinh cosh atan asinh relu""".split()
_POSITIVE = "log rsqrt reciprocal sqrt log2 log10 log1p".split()
_IN_UNIT = "asin acos atanh erfinv tan".split()


def unary() -> Iterator[Case]:
    for names, low, high in ((_ANYWHERE, -2, 2), (_POSITIVE, 0.3, 3), (_IN_UNIT, -0.9, 0.9)):
        for name in names:
            yield name, Function(getattr(torch, name)), (values((2, 3, 4), low, high),)
    yield "acosh", Function(torch.acosh), (values((3, 4), 1.1, 3),)
    functions = "silu hardsigmoid hardswish leaky_relu elu gelu relu6 hardtanh".split()
    for name in functions:
        yield name, Function(getattr(F, name)), (values((2, 7), -4, 4),)
    yield "prelu", nn.PReLU(), (values((2, 7), -4, 4),)
    yield "gelu tanh", Function(lambda x: F.gelu(x, approximate="tanh")), (values((2, 7), -4, 4),)
    yield "clamp", Function(lambda x: x.clamp(-0.5, 1.5)), (values((2, 7)),)
    yield "clamp one side", Function(lambda x: x.clamp(min=-0.5)), (values((2, 7)),)
    yield "square", Function(lambda x: x**2), (values((2, 7)),)
    yield "root", Function(lambda x: x**0.5), (values((2, 7), 0.1, 3),)
    yield "add number", Function(lambda x: x + 1.5), (values((2, 7)),)
    yield "mul number", Function(lambda x: x * -0.3), (values((2, 7)),)
    yield "div number", Function(lambda x: x / 3), (values((2, 7)),)


def binary() -> Iterator[Case]:
    both = values((2, 3, 4)), values((2, 3, 4), -1, 3)
    for name in "add sub mul maximum minimum".split():
        yield name, Function(getattr(torch, name)), both
        yield (
            f"{name} broadcast",
            Function(getattr(torch, name)),
            (values(IMAGE), values((4, 1, 1))),
        )
    yield "add relu", Function(lambda x, y: torch.relu(x + y)), both
    yield "div", Function(torch.div), (values((2, 3)), values((2, 3), 1, 2))
    apart = values((8, 9), 0.2, 2) * values((8, 9), -1, 1).sign()
    yield "div both signs", Function(torch.div), (values((8, 9)), apart)
    yield "div broadcast", Function(torch.div), (values(IMAGE), values((4, 1, 1), 0.5, 2))
    yield "number div", Function(lambda x: 2 / x), (values((2, 3), 1, 2),)
    yield "remainder", Function(lambda x: x % 1.5), (values((2, 7)),)
    for name in "eq ne ge gt le lt".split():
        yield name, Function(getattr(torch, name)), both
    yield "gt number", Function(lambda x: x > 0.25), both[:1]
    yield "logical", Function(lambda x, y: torch.logical_and(x > 0, ~(y > 0))), both
    yield "where", Function(lambda x, y: torch.where(x > y, x, y)), both
    yield (
        "int32 add",
        Function(lambda x, y: x * y + x),
        (torch.arange(6).int(), torch.arange(6).int() - 3),
    )


def data_movement() -> Iterator[Case]:
    x = values(IMAGE)
    functions: dict[str, Callable[..., Any]] = {
        "view": lambda x: x.view(4, 36) * 2,
        "permute": lambda x: x.permute(0, 2, 3, 1) * 2,
        "transpose": lambda x: x.transpose(1, 3) * 2,
        "cat": lambda x: torch.cat([x, x * 2], 1),
        "cat last": lambda x: torch.cat([x, x * 2], -1),
        "cat constant": lambda x: torch.cat([torch.ones(1, 1, 6, 6), x * 2], 1),
        "stack": lambda x: torch.stack([x, x * 2], 1),
        "slice": lambda x: x[:, 1:3, :, 2:] * 2,
        "slice step": lambda x: x[:, :, ::2, 1::3] * 2,
        "select": lambda x: x[:, 2] * 2,
        "split": lambda x: torch.split(x, [1, 3], 1)[1] * 2,
        "chunk": lambda x: x.chunk(2, 1)[0] + x.chunk(2, 1)[1],
        "unbind": lambda x: x.unbind(1)[0] * x.unbind(1)[3],
        "expand": lambda x: x[:, :1].expand(1, 4, 6, 6) * 2,
        "repeat": lambda x: x.repeat(1, 2, 1, 1) * 2,
        "flip": lambda x: x.flip([1, 3]) * 2,
        "roll": lambda x: torch.roll(x, 2, 3) * 2,
        "pad": lambda x: F.pad(x, (1, 2, 0, 1)) * 2,
        "pad number": lambda x: F.pad(x, (1, 2), value=1.0) * 2,
        "pixel shuffle": lambda x: F.pixel_shuffle(x, 2) * 2,
        "pixel unshuffle": lambda x: F.pixel_unshuffle(x, 2) * 2,
        "squeeze": lambda x: (x * 2).squeeze(0).unsqueeze(2),
        "flatten": lambda x: (x * 2).flatten(1),
        "unflatten": lambda x: x.unflatten(1, (2, 2)) * 2,
        "movedim": lambda x: x.movedim(1, -1) * 2,
        "reflect": lambda x: F.pad(x, (1, 2, 3, 1), mode="reflect") * 2,
        "replicate": lambda x: F.pad(x, (1, 2, 3, 1), mode="replicate") * 2,
        "circular": lambda x: F.pad(x, (1, 2, 3, 1), mode="circular") * 2,
        "index": lambda x: x[:, [0, 3, 2]] * 2,
        "nearest 1d": lambda x: F.interpolate(x[0], scale_factor=2),
        "masked fill": lambda x: x.masked_fill(torch.ones(6, 6).tril() > 0, 0.5),
    }
    for name, function in functions.items():
        yield name, Function(function), (x,)
    table = torch.randn(10, 4)
    yield "embedding", nn.Embedding.from_pretrained(table), (torch.tensor([[1, 3, 9]]).int(),)
    for dim, sizes in ((1, (1, 3, 6, 6)), (-1, (1, 4, 6, 2))):
        places = torch.randint(0, 4, sizes).int()
        gather = functools.partial(torch.gather, dim=dim)
        yield (
            f"gather {dim}",
            Function(lambda x, i, gather=gather: gather(x * 2, index=i)),
            (x, places),
        )
    yield "index select", Function(lambda x: torch.index_select(x, 1, torch.tensor([2, 0]))), (x,)


def matrices() -> Iterator[Case]:
    x = values((2, 4, 9, 10))
    settings: dict[str, dict[str, Any]] = {
        "conv": {},
        "conv stride": {"stride": 2, "padding": 1},
        "conv stride 3": {"stride": 3},
        "conv dilated": {"dilation": 2, "padding": 2},
        "conv no bias": {"bias": False},
        "conv groups": {"groups": 2},
        "conv depthwise": {"groups": 4, "padding": 1},
    }
    for name, each in settings.items():
        yield name, nn.Conv2d(4, 8, 3, **each), (x,)
    yield "conv norm relu", nn.Sequential(nn.Conv2d(4, 8, 3), nn.BatchNorm2d(8), nn.ReLU()), (x,)
    yield "conv relu6", nn.Sequential(nn.Conv2d(4, 8, 3), nn.ReLU6()), (x,)
    yield "conv hardtanh", nn.Sequential(nn.Conv2d(4, 8, 3), nn.Hardtanh()), (x,)
    yield "conv 1x1 stride", nn.Conv2d(4, 8, 1, stride=2), (x,)
    yield "conv shuffle", nn.Sequential(nn.Conv2d(4, 8, 3), nn.PixelShuffle(2)), (x,)
    yield "shuffle conv", nn.Sequential(nn.PixelUnshuffle(2), nn.Conv2d(16, 4, 3)), (x[:, :, :8],)
    # a column, a place, one channel: which memory is the same plain and channels last
    for name, width, taps in (("column", 8, (3, 10)), ("place", 8, (9, 10)), ("channel", 1, 3)):
        yield f"conv flatten {name}", nn.Sequential(nn.Conv2d(4, width, taps), nn.Flatten()), (x,)
    yield "conv1d", nn.Conv1d(4, 6, 3, padding=1), (values((1, 4, 12)),)
    yield "conv3d", nn.Conv3d(2, 3, 2), (values((1, 2, 4, 5, 6)),)
    yield "conv transpose", nn.ConvTranspose2d(4, 3, 3, stride=2), (x,)
    yield (
        "conv transpose pad",
        nn.ConvTranspose2d(4, 3, 3, stride=2, padding=1, output_padding=1),
        (x,),
    )
    yield "conv transpose groups", nn.ConvTranspose2d(4, 8, 3, groups=2), (x,)
    yield "conv transpose norm", _normed(nn.ConvTranspose2d(4, 4, 3)), (x,)
    last = x.contiguous(memory_format=torch.channels_last)
    yield "conv channels last", nn.Conv2d(4, 8, 3), (last,)
    yield "linear", nn.Linear(6, 5), (values((3, 6)),)
    yield "linear 3d", nn.Linear(6, 5, bias=False), (values((2, 3, 6)),)
    yield "linear relu", nn.Sequential(nn.Linear(6, 5), nn.ReLU()), (values((3, 6)),)
    yield "mm", Function(torch.mm), (values((3, 6)), values((6, 4), 0, 3))
    yield "bmm", Function(torch.bmm), (values((2, 3, 6)), values((2, 6, 4), 0, 3))
    yield "matmul", Function(torch.matmul), (values((2, 2, 3, 6)), values((2, 2, 6, 4), 0, 3))
    yield "batch norm", nn.BatchNorm2d(4), (x,)


def _normed(module: nn.Module) -> nn.Module:
    """With a norm behind it that is another one for each of four channels."""
    norm = nn.BatchNorm2d(4)
    norm.running_mean = torch.tensor([0.5, -1.0, 0.0, 2.0])
    norm.running_var = torch.tensor([0.5, 1.0, 4.0, 2.0])
    return nn.Sequential(module, norm)


def along_axes() -> Iterator[Case]:
    x = values((1, 4, 8, 8))
    functions: dict[str, Callable[..., Any]] = {
        "mean image": lambda x: x.mean((2, 3)),
        "mean image kept": lambda x: x.mean((2, 3), keepdim=True),
        "mean channels": lambda x: x.mean(1),
        "mean all": lambda x: x.mean(),
        "sum": lambda x: x.sum(1, keepdim=True),
        "amax": lambda x: x.amax(-1),
        "amin": lambda x: x.amin((2, 3)),
        "max dim": lambda x: x.max(1)[0],
        "min dim": lambda x: x.min(1, keepdim=True)[0],
        "max": lambda x: x.max(),
        "std": lambda x: x.std(-1),
        "cumsum": lambda x: x.cumsum(-1),
        "rms norm": lambda x: F.rms_norm(x, (8,)),
        "var": lambda x: x.var(1),
        "var kept": lambda x: x.var((2, 3), correction=0, keepdim=True),
        "softmax": lambda x: torch.softmax(x * 3, -1),
        "softmax channels": lambda x: torch.softmax(x, 1),
        "log softmax": lambda x: torch.log_softmax(x, -1),
        "layer norm": lambda x: F.layer_norm(x, (8,)),
        "group norm": lambda x: F.group_norm(x, 2),
        "max pool": lambda x: F.max_pool2d(x, 2),
        "max pool pad": lambda x: F.max_pool2d(x, 3, 2, 1),
        "max pool dilated": lambda x: F.max_pool2d(x, (2, 3), 1, 1, dilation=(2, 1)),
        "max pool dilated stride": lambda x: F.max_pool2d(x, 3, (1, 2), dilation=(3, 1)),
        "avg pool": lambda x: F.avg_pool2d(x, 2),
        "avg pool beyond": lambda x: F.avg_pool2d(x, 20, ceil_mode=True),
        "avg pool pad": lambda x: F.avg_pool2d(x, 3, 1, 1),
        "avg pool ceil": lambda x: F.avg_pool2d(x, 3, 2, ceil_mode=True),
        "avg pool uncounted": lambda x: F.avg_pool2d(x, 3, 1, 1, count_include_pad=False),
        "avg pool divided": lambda x: F.avg_pool2d(x, 3, 1, 1, False, False, 7),
        "avg pool ceil divided": lambda x: F.avg_pool2d(x, 3, 2, 0, True, True, 7),
        "adaptive pool": lambda x: F.adaptive_avg_pool2d(x, 1),
        "adaptive pool 2": lambda x: F.adaptive_avg_pool2d(x, 2),
        "nearest 2x": lambda x: F.interpolate(x, scale_factor=2),
        "nearest odd": lambda x: F.interpolate(x, size=(5, 11)),
        "bilinear 2x": lambda x: F.interpolate(x, scale_factor=2, mode="bilinear"),
        "bilinear aligned": lambda x: F.interpolate(
            x, size=(15, 15), mode="bilinear", align_corners=True
        ),
        "any": lambda x: (x > 1.9).any(1),
        "argmax": lambda x: x.argmax(1).int(),
        "argmax kept": lambda x: x.argmax(-1, keepdim=True).int(),
        "argmax channels last": lambda x: F.max_pool2d(x, 2).argmax(1, keepdim=True).int(),
        "argmax all": lambda x: (x * 2).argmax().to(torch.int32),
    }
    for name, function in functions.items():
        yield name, Function(function), (x,)
    scaled = nn.LayerNorm((8, 8))
    nn.init.normal_(scaled.weight)  # some are negative
    nn.init.normal_(scaled.bias)
    yield "layer norm scaled", scaled, (x,)


def _mask() -> Tensor:
    return (torch.ones(8, 8).tril(2) > 0).triu(-2)


class _First(nn.Module):
    def __init__(self, module: nn.Module) -> None:
        super().__init__()
        self._module = module

    def forward(self, x: Tensor) -> Tensor:
        return self._module(x)[0]


def compounds() -> Iterator[Case]:
    """What the quantizer takes apart, so that each part has its range."""
    x, sequence = values((1, 4, 8, 8)), values((3, 2, 6))
    two_ways = {"num_layers": 2, "bidirectional": True, "batch_first": True}
    yield "lstm", _First(nn.LSTM(6, 5)), (sequence,)
    yield "lstm two ways", _First(nn.LSTM(6, 5, **two_ways)), (sequence,)
    yield "gru", _First(nn.GRU(6, 5, batch_first=True)), (sequence,)
    yield "rnn", _First(nn.RNN(6, 5)), (sequence,)
    yield "transformer layer", nn.TransformerEncoderLayer(8, 2, 16), (values((5, 1, 8)),)
    yield "instance norm", nn.InstanceNorm2d(4, affine=True), (x,)
    functions: dict[str, Callable[..., Any]] = {
        "glu": F.glu,
        "selu": F.selu,
        "celu": lambda x: F.celu(x, 0.7),
        "mish": F.mish,
        "softplus": F.softplus,
        "log sigmoid": F.logsigmoid,
        "threshold": lambda x: F.threshold(x, 0.1, 0.5),
        "number minus": lambda x: 2 - x,
        "clamp min": lambda x: x.clamp_min(0.2) * 2,
        "sqrt clamped": lambda x: (x * x).sqrt().clamp(0.3, 1.0),
        "normalize": lambda x: F.normalize(x, dim=1),
        "norm": lambda x: x.norm(dim=1),
        "attention": lambda x: F.scaled_dot_product_attention(x, x, x),
        "causal attention": lambda x: F.scaled_dot_product_attention(x, x, x, is_causal=True),
        "masked attention": lambda x: F.scaled_dot_product_attention(x, x, x, _mask()),
        "avg pool 1d": lambda x: F.avg_pool1d(x[0], 2),
        "max pool 1d": lambda x: F.max_pool1d(x[0], 2),
        "adaptive uneven": lambda x: F.adaptive_avg_pool2d(x, 3),
        "adaptive max": lambda x: F.adaptive_max_pool2d(x, 3),
    }
    for name, function in functions.items():
        yield name, Function(function), (x,)
    attention = Function(lambda x, mask: F.scaled_dot_product_attention(x, x, x, mask))
    yield "attention given a mask", attention, (x, _mask())
    yield "attention given scores", attention, (x, (_mask() * 1.0).log())
    yield "cosine", Function(F.cosine_similarity), (x, values((1, 4, 8, 8)))
    yield "einsum", Function(lambda x, y: torch.einsum("nchw,nchv->nwv", x, y)), (x, x + 1)
    yield "addmm", Function(torch.addmm), (values((5,)), values((3, 4)), values((4, 5)))
    yield "baddbmm", Function(torch.baddbmm), tuple(map(values, ((2, 3, 5), (2, 3, 4), (2, 4, 5))))


FAMILIES = {
    each.__name__: each for each in (unary, binary, data_movement, matrices, along_axes, compounds)
}
