# SPDX-License-Identifier: BSD-3-Clause
"""Rows of aten: each is delegated whole, and its call in the payload means what PyTorch computes (VK-001, VK-002)."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace
from typing import Any

import pytest
import torch
from torch import Tensor, nn
from torch.nn import functional as F

from executorch.backends.test.corpus.row import Function
from executorch.backends.vulkan.aot.ops import TABLE
from executorch.backends.vulkan.test.lowered import (
    chain,
    check_values,
    delegates,
    left,
    lower,
    method_on_device,
)
from executorch.exir import to_edge
from executorch.exir.graph_facts import op_name

X = torch.linspace(-2, 2, 2 * 3 * 4).view(2, 3, 4)
Y = torch.linspace(-1, 3, 2 * 3 * 4).view(2, 3, 4).flip(0)
IMAGE = torch.linspace(-1, 1, 2 * 4 * 6 * 6).view(2, 4, 6, 6).sin()
POSITIVE = X.abs() + 0.5
NUMBERS = torch.arange(-6, 6, dtype=torch.int32).view(3, 4)


def check(function: Callable[..., Any], *inputs: Tensor, expected: set[str] | None = None) -> None:
    module = function if isinstance(function, nn.Module) else Function(function)
    edge = check_values(module, inputs)
    assert not left(edge), left(edge)
    assert len(delegates(edge)) == 1
    if expected is not None:
        assert set(chain(edge)) == expected


UNARY = {
    "abs": torch.abs, "cos": torch.cos, "exp": torch.exp, "neg": torch.neg, "sigmoid": torch.sigmoid, "sin": torch.sin,
    "tanh": torch.tanh, "round": torch.round, "relu": torch.relu, "hardswish": F.hardswish, "gelu": F.gelu,
    "leaky_relu": F.leaky_relu, "hardtanh": F.hardtanh,
    "clamp": lambda x: torch.clamp(x, -1, 0.5), "pow": lambda x: torch.pow(x, 2),
}  # fmt: skip


def test_unary() -> None:
    for name, function in UNARY.items():
        edge = check_values(Function(function), (X,))
        assert not left(edge), name
        assert len(chain(edge)) == 1 and name in chain(edge)[0], chain(edge)
    check(F.hardshrink, X)
    check(torch.sqrt, POSITIVE)
    check(torch.rsqrt, POSITIVE)
    check(lambda x: F.gelu(x, approximate="tanh"), X)


@pytest.mark.parametrize("others", [(X, Y), (NUMBERS, NUMBERS.flip(0)), (X, Y[:1, :, :1])])
def test_binary(others: tuple[Tensor, Tensor]) -> None:
    for function in (torch.add, torch.sub, torch.mul, torch.minimum):
        check(function, *others)
    check(lambda a, b: torch.add(a, b, alpha=2), *others)
    for function in (torch.eq, torch.lt, torch.le, torch.gt, torch.ge):
        check(function, *others)
        check(lambda a, f=function: f(a, 1), others[0])
    check(lambda a: torch.ne(a, 1), others[0])


def test_divisions() -> None:
    check(torch.div, X, POSITIVE)
    for mode in ("trunc", "floor"):
        check(lambda a, b, mode=mode: torch.div(a, b, rounding_mode=mode), X, POSITIVE)
    check(torch.pow, POSITIVE, Y)


def test_logic() -> None:
    a, b = X > 0, Y > 0
    for function in (torch.bitwise_and, torch.bitwise_or, torch.logical_and, torch.logical_or):
        check(function, a, b)
    check(torch.logical_not, a)
    check(torch.bitwise_not, a)
    check(torch.where, a, X, Y)
    for each in (a, a & False, a.new_zeros(2, 1, 4)):
        check(torch.any, each)
        check(lambda x: x.any(1), each)
        check(lambda x: x.any(-1, keepdim=True), each)
        check(lambda x: torch.any(x, (0, 2)), each)


def test_attention_with_a_mask() -> None:
    queries = torch.randn(1, 2, 6, 8)
    attention = F.scaled_dot_product_attention
    for mask in (torch.ones(6, 6).tril() > 0, torch.ones(6, 6).tril(-1) > 0, torch.randn(6, 6)):
        check(lambda m, x: attention(x, x, x, m), mask, queries)


def test_conversions() -> None:
    check(lambda x: x.to(torch.int32), X)
    check(lambda x: x.to(torch.float32), NUMBERS)
    check(lambda x: x.to(torch.float32), X > 0)
    check(lambda x: x.to(torch.float16) * 2, X)
    check(lambda x, y: x + y, X, NUMBERS)  # promoted


def test_moves() -> None:
    check(lambda x: x.reshape(4, 6), X)
    check(lambda x: x.permute(2, 0, 1) * 1, X)
    check(lambda x: x.transpose(0, 1).flip(0), X)
    check(lambda x: x.unsqueeze(1).expand(2, 5, 3, 4) + 0, X)
    check(lambda x: x[:, 1:, ::2] * x[:, 0, 1], X)
    check(lambda x: x[:1].squeeze(0), X)
    check(lambda x: torch.cat([x, x * 2], 1), X)
    check(lambda x: torch.cat(x.split([1, 2], 1)[::-1], 1), X)
    check(lambda x: F.pad(x, (1, 2, 0, 1), value=3.0), X)
    check(lambda x: x.repeat(2, 1, 2), X)
    check(lambda x: torch.stack([x, x]), X)
    check(lambda x: F.pixel_shuffle(x, 2), IMAGE)


def test_indices() -> None:
    indices = torch.tensor([2, 0, 1, 1])
    check(lambda x, i: torch.index_select(x, 1, i), X, indices)
    check(lambda x, i: torch.gather(x, 2, i), X, torch.randint(0, 4, (2, 3, 2)))
    check(lambda x, i: x[i], X.flatten(), indices)
    check(lambda x, i: x[:, i], X, indices, expected={"aten.index_select.default"})
    check(nn.Embedding(5, 6), indices)
    check(lambda x: torch.arange(0, 4, dtype=torch.int32) + x, NUMBERS)
    check(lambda x: torch.full((3, 4), 2.5) + x, NUMBERS.float())
    check(lambda x: torch.zeros_like(x) + torch.ones(4), X)


def test_products() -> None:
    check(torch.mm, X[0], Y[0].t().contiguous())
    check(torch.bmm, X, Y.transpose(1, 2).contiguous())
    check(nn.Linear(4, 5), X, expected={"aten.linear.default"})
    check(lambda a, b, c: torch.addmm(a, b, c), torch.ones(3), X[0], Y[0].t().contiguous())
    check(torch.matmul, X, Y.transpose(1, 2).contiguous())


def test_reductions() -> None:
    for function in (torch.mean, torch.sum, torch.amax, torch.amin):
        for dims in ([-1], [1], [0, 2], [0, 1, 2]):
            check(lambda x, f=function, d=dims: f(x, d), X)
            check(lambda x, f=function, d=dims: f(x, d, keepdim=True), X)
    for function in (torch.argmax, torch.argmin):
        check(lambda x, f=function: f(x, 1), X)
    for function in (torch.softmax, torch.log_softmax):
        check(lambda x, f=function: f(x, 1), X)


def test_norms() -> None:
    check(nn.LayerNorm(4), X)
    check(nn.GroupNorm(2, 4), IMAGE)
    check(nn.BatchNorm2d(4), IMAGE)


def test_images() -> None:
    check(nn.MaxPool2d(2), IMAGE)
    check(lambda x: F.max_pool2d(x, 3, 1, 1, return_indices=True), IMAGE)
    check(nn.AvgPool2d(3, 2, 1), IMAGE)
    # A window that is larger than its image, where sizes are rounded up.
    for counts in (True, False):
        check(nn.AvgPool2d(9, 9, 1, ceil_mode=True, count_include_pad=counts), IMAGE)
    check(nn.MaxPool2d(9, 9, ceil_mode=True), IMAGE)
    check(nn.AdaptiveAvgPool2d(1), IMAGE)
    check(nn.Upsample(scale_factor=2), IMAGE)
    check(nn.Upsample(scale_factor=2, mode="bilinear"), IMAGE)


@pytest.mark.parametrize(
    "convolution",
    [
        nn.Conv2d(4, 6, 3, padding=1),
        nn.Conv2d(4, 4, 3, stride=2, groups=4),
        nn.Conv2d(4, 8, 1, bias=False),
        nn.Conv2d(4, 6, 3, dilation=2, groups=2),
        nn.ConvTranspose2d(4, 6, 3, stride=2, output_padding=1, padding=1),
    ],
)
def test_convolutions(convolution: nn.Module) -> None:
    check(convolution, IMAGE, expected={"aten.convolution.default"})
    channels = convolution.out_channels
    norm = nn.BatchNorm2d(channels)
    norm.running_mean.normal_()
    limited = nn.Sequential(convolution, norm, nn.ReLU6())
    check(limited, IMAGE, expected={"et_vk.conv_with_clamp.default"})


def test_convolutions_of_rows() -> None:
    check(
        nn.Sequential(nn.Conv1d(4, 6, 3), nn.ReLU()),
        IMAGE[0].reshape(1, 4, 36),
        expected={"et_vk.conv_with_clamp.default"},
    )


def test_error_functions_are_as_near_as_they_say() -> None:
    """2e-7 off, of which gelu of numbers from -2.5 has at most 2.5 / 2 times as much, and is less than 0.17 itself."""
    x = torch.linspace(-2.5, -0.4, 2001)
    device = method_on_device(lower(Function(F.gelu), (x,)))
    if device is not None:
        (found,) = device.execute([x])
        torch.testing.assert_close(found.double(), F.gelu(x.double()), rtol=0, atol=2.5e-7 + 2**-27)


WHOLE = torch.arange(-3, 3, dtype=torch.int32)
# What other makers' files name and no row writes: in the place of a call with a result of the same sizes.
OF_OTHERS: dict[str, tuple[str, Callable[..., Any], tuple[Any, ...], Callable[[Tensor], Tensor], Tensor]] = {
    "variance": ("aten.var.dim", lambda x: x.amax([1]), ([1], True, False), lambda x: x.var(1), X),
    "variance of all": ("aten.var.dim", lambda x: x.amax([1]), ([1], False, False), lambda x: x.var(1,
     correction=0), X),
    "variance of one": ("aten.var.dim", lambda x: x.amax([1]), ([1], True, False), lambda x: x[:, 0] * torch.nan,
     X[:, :1].contiguous()),
    "logarithm": ("aten.log.default", torch.exp, (), torch.log, POSITIVE),
    "tangent": ("aten.tan.default", torch.exp, (), torch.tan, X),
    "hardsigmoid": ("aten.hardsigmoid.default", torch.exp, (), F.hardsigmoid, X * 3),
    "relu6": ("aten.relu6.default", torch.exp, (), F.relu6, X * 5),
    "whole numbers and limits between": (
        "aten.clamp.default", lambda x: torch.clamp(x, 0), (-1.5, 1.5), lambda x: x.clamp(-1, 1), WHOLE),
    "slice": ("aten.slice.Tensor", lambda x: x[:, 1:], (1, 1, 3, 1), lambda x: x[:, 1:], X),
}  # fmt: skip


@pytest.mark.parametrize("name", OF_OTHERS)
def test_operators_that_others_name(name: str, monkeypatch: pytest.MonkeyPatch) -> None:
    operator, stand_in, more, expected, x = OF_OTHERS[name]
    (node,) = (n for n in lower_edge_of(stand_in, x).graph.nodes if n.op == "call_function")

    def write(writer: Any, step: Any) -> None:
        args = [writer.read(step.head.args[0]), *map(writer.argument, more)]
        writer.call(operator, args, step.head)

    monkeypatch.setitem(TABLE._rows, op_name(node), replace(TABLE.row(node), lower=write))
    device = method_on_device(lower(Function(stand_in), (x,)))
    if device is not None:
        (found,) = device.execute([x])
        torch.testing.assert_close(found, expected(x), rtol=1e-5, atol=1e-5, equal_nan=True)


def lower_edge_of(code: Callable[..., Any], x: Tensor) -> torch.export.ExportedProgram:
    return to_edge(torch.export.export(Function(code), (x,))).exported_program()


def test_what_shares_no_value_is_one_delegate() -> None:
    check(lambda x, y: (x + 1, y * 2), X, Y)
