# SPDX-License-Identifier: BSD-3-Clause
"""What the quantized operators of et_vk compute, beside sums written out number by number: at both ends of int8, with
and without a bias, with weights and biases wider than what is read. Scales are powers of two: sums are exact."""

from __future__ import annotations

from itertools import product

import pytest
import torch
from torch import Tensor

import executorch.backends.vulkan.custom_ops_lib  # noqa: F401  defines et_vk
from executorch.backends.test.corpus.row import integers
from executorch.backends.vulkan.aot import packing

et_vk = torch.ops.et_vk
BY_ROW = torch.tensor([0.5, 0.25, 2.0, 1.0, 0.0, 0.0, 0.0, 0.0])  # of three or four rows, padded
BIAS = torch.tensor([3.0, -40.5, 7.25, 0.5, 99.0, 99.0, 99.0, 99.0])


def whole(low: int, high: int, *sizes: int) -> Tensor:
    """int8, of which the first two are the ends."""
    found = (integers(high - low + 1, *sizes) + low).to(torch.int8)
    found.view(-1)[:2] = torch.tensor([low, high])
    return found


def limited(value: float, scale: float, zero: int, is_least_zero: bool = False) -> int:
    value = max(value, 0.0) if is_least_zero else value
    return min(max(round(value / scale) + zero, -128), 127)


def ends(found: Tensor) -> set[int]:
    return {-128, 127} & set(found.flatten().tolist())


def test_sums_and_activations_reach_both_ends() -> None:
    a, b = whole(-128, 127, 6, 16), whole(-128, 127, 6, 16).flip(0)
    found = et_vk.q8ta_add(a, b, 0.5, 3, 0.25, -9, 0.25, 7, 2.0)
    sums = [
        (x - 3) * 0.5 + 2 * (y + 9) * 0.25
        for x, y in zip(a.flatten().tolist(), b.flatten().tolist(), strict=True)
    ]
    assert found.flatten().tolist() == [limited(each, 0.25, 7) for each in sums]
    assert ends(found) == {-128, 127}
    for zero in (-128, -20, 100):
        found = et_vk.q8ta_relu(a, 0.5, 3, 0.25, zero)
        assert found.flatten().tolist() == [
            limited((x - 3) * 0.5, 0.25, zero, True) for x in a.flatten().tolist()
        ]
        assert (found.min(), found.max()) == (zero, min(zero + 248, 127))
    image = a.view(1, 4, 4, 6)
    found = et_vk.q8ta_pixel_shuffle(image, 0.5, 3, 4.0, 7, 2)
    places = [(0, (y % 2) * 2 + x % 2, y // 2, x // 2) for y in range(8) for x in range(12)]
    assert found.shape == (1, 1, 8, 12)
    assert found.flatten().tolist() == [
        limited((int(image[at]) - 3) * 0.5, 0.25, 7) for at in places
    ]
    assert ends(found) == {-128, 127}


# ---- Linear ----


def products(
    x: list[list[float]], weight: list[list[float]], bias: Tensor | None
) -> list[list[float]]:
    """Of the columns that x has."""
    more = [0.0] * len(weight) if bias is None else bias.tolist()
    return [[sum(map(float.__mul__, map(float, row), map(float, column[: len(row)]))) + more[n]
             for n, column in enumerate(weight)] for row in x]  # fmt: skip


def scaled(weight: Tensor, scales: Tensor, group: int) -> list[list[float]]:
    """`scales`: [groups, rows and more]."""
    return [[int(weight[n, k]) * float(scales[k // group, n]) for k in range(weight.shape[1])]
            for n in range(weight.shape[0])]  # fmt: skip


@pytest.mark.parametrize("bias", [None, BIAS], ids=["no bias", "bias"])
def test_linear_layers_of_bytes(bias: Tensor | None) -> None:
    """Six columns of eight, three rows; of integers, and of floats that are quantized first."""
    weight, x = whole(-128, 127, 3, 8), whole(-128, 127, 5, 6)
    sums = packing.sums_of_rows(weight)
    by_row = [BY_ROW[:3]]
    rows = scaled(weight, torch.stack(by_row), 8)
    read = [[(each - 5) * 0.5 for each in row] for row in x.tolist()]
    expected = products(read, rows, bias)
    found = et_vk.linear_q8ta_q8csw(x, 0.5, 5, weight, sums, BY_ROW, bias)
    assert found.tolist() == expected
    floats = torch.tensor(read) + 0.125  # falls to the same step
    floats[0, :2] = torch.tensor([-100.0, 100.0])  # beyond what is stored
    assert x[0, :2].tolist() == [-128, 127]
    assert et_vk.linear_q8ta_q8csw(floats, 0.5, 5, weight, sums, BY_ROW, bias).tolist() == expected
    for activation, name in product(("none", "relu"), ("q8ta_linear", "q8ta_linear_gemv")):
        given = (x, 0.5, 5, weight, sums, BY_ROW, 16.0, -3, bias, activation)
        found = getattr(et_vk, name)(*given).tolist()
        assert found == [
            [limited(each, 16.0, -3, activation == "relu") for each in row] for row in expected
        ]
        assert any(127 in row for row in found)


@pytest.mark.parametrize("bias", [None, BIAS], ids=["no bias", "bias"])
def test_linear_layers_of_4_bits(bias: Tensor | None) -> None:
    """Seven columns of eight in two groups, three rows; scales for eight rows."""
    weight, x = whole(-8, 7, 3, 8), whole(-4, 4, 5, 7).float() / 2
    scales = torch.stack([BY_ROW, BY_ROW.flip(0) + 0.5])
    pairs = packing.nibbles(weight, low_first=True, multiple=2)
    rows = scaled(weight, scales, 4)
    found = et_vk.linear_q4gsw(x, pairs, scales, 4, bias)
    assert found.tolist() == products(x.tolist(), rows, bias)
    gradient = whole(-3, 3, 2, 3).float()
    columns = [list(each) for each in zip(*rows, strict=True)]
    found = et_vk.linear_q4gsw_backward(gradient, pairs, scales, 4)
    assert found.tolist() == products(gradient.tolist(), columns, None)
    if bias is None:
        high = packing.nibbles(weight, low_first=False, multiple=2)
        one = scaled(weight, BY_ROW[None], 8)
        assert et_vk.linear_qcs4w(x, high, BY_ROW).tolist() == products(x.tolist(), one, None)


def test_rows_that_are_quantized_by_themselves() -> None:
    """Values on both sides of what a row's scale and zero point hold."""
    weight = whole(-8, 7, 3, 4)
    scales, points = torch.tensor([0.5, 0.25]), torch.tensor([10, -20], dtype=torch.int32)
    x = torch.tensor([[-70.0, 59.0, 1.125, 0.5], [-30.0, 40.0, -27.0, 36.75]])
    steps = [
        [limited(each, float(s), int(p)) for each in row]
        for row, s, p in zip(x.tolist(), scales, points, strict=True)
    ]
    assert steps == [[-128, 127, 12, 11], [-128, 127, -128, 127]]
    read = [
        [(each - int(p)) * float(s) for each in row]
        for row, s, p in zip(steps, scales, points, strict=True)
    ]
    pairs, by_row = packing.nibbles(weight, True, 2), BY_ROW[None]
    sums = packing.sums_of_groups(weight, 4)
    for bias in (None, BIAS):
        found = et_vk.linear_dq8ca_q4gsw(x, scales, points, pairs, sums, by_row, 4, bias)
        assert found.tolist() == products(read, scaled(weight, by_row, 4), bias)


# ---- Convolutions ----


def convolved(
    x: Tensor, weight: Tensor, groups: int, turned: bool
) -> dict[tuple[int, int, int], float]:
    """Sums of a convolution with stride (2, 1), padding (1, 0), of what is 0 outside; `weight` as PyTorch has it."""
    height, width = x.shape[2:]
    kernel, found = weight.shape[2:], {}
    inside, outside = x.shape[1] // groups, weight.shape[1] if turned else weight.shape[0] // groups
    for group, i, o in product(range(groups), range(inside), range(outside)):
        c, f = group * inside + i, group * outside + o
        for y, z, u, v in product(range(height), range(width), *map(range, kernel)):
            if turned:
                at, w = (f, 2 * y + u - 1, z + v), int(weight[c, o, u, v])
            else:
                top = y + 1 - u
                at, w = (f, top // 2 if top % 2 == 0 else -1, z - v), int(weight[f, i, u, v])
            found[at] = found.get(at, 0.0) + float(x[0, c, y, z]) * w
    return found


@pytest.mark.parametrize("activation", ["none", "relu"])
@pytest.mark.parametrize("bias", [None, BIAS], ids=["no bias", "bias"])
@pytest.mark.parametrize(
    "kind", ["plain", "groups", "depthwise", "transposed", "transposed groups"]
)
def test_convolutions(kind: str, bias: Tensor | None, activation: str) -> None:
    """Kernels of two by three."""
    groups = {"plain": 1, "transposed": 1, "depthwise": 4}.get(kind, 2)
    turned, x = "transposed" in kind, whole(-128, 127, 1, 4, 5, 6)
    outside = 3 if groups == 1 else 4
    shape = (4, outside // groups, 2, 3) if turned else (outside, 4 // groups, 2, 3)
    weight = whole(-128, 127, *shape)
    how = ([2, 3], [2, 1], [1, 0], *([[0, 0]] if turned else []), [1, 1], groups, activation)
    if kind == "depthwise":
        name, rows = "q8ta_conv2d_dw", packing.depthwise_taps(weight)
    elif turned:
        name, rows = "q8ta_conv2d_transposed", packing.rows_of_transposed(weight, groups)
    else:
        name, rows = "q8ta_conv2d", packing.rows_of_filters(weight)
    out = (256.0, -7)
    found = getattr(et_vk, name)(
        x, 0.5, 5, rows, packing.sums_of_rows(weight), BY_ROW, *out, bias, *how
    )
    sums = convolved(x.float() - 5, weight, groups, turned)
    for f, y, z in product(*map(range, found.shape[1:])):
        value = sums.get((f, y, z), 0.0) * 0.5 * float(BY_ROW[f])
        value += 0.0 if bias is None else float(bias[f])
        assert int(found[0, f, y, z]) == limited(value, *out, activation == "relu"), (f, y, z)
    assert found.shape[1:] == (outside, 8 if turned else 3, 8 if turned else 4)


# ---- Tables ----


def test_tables_of_4_bits() -> None:
    table, places = whole(-8, 7, 5, 6), torch.tensor([[4, 0, 2]])
    scales = torch.tensor([[0.5, 0.25], [1.0, 2.0], [0.125, 4.0], [1.0, 1.0], [8.0, 0.5]])
    expected = [
        [[int(table[n, k]) * float(scales[n, k // 3]) for k in range(6)] for n in (4, 0, 2)]
    ]
    for is_linear in (False, True):
        pairs = packing.nibbles(table, low_first=is_linear, multiple=2)
        assert et_vk.embedding_q4gsw(pairs, scales, 3, places, is_linear).tolist() == expected


def test_weights_are_quantized_again() -> None:
    """Halves to the even step, what is beyond to the ends: of two groups of two, with scales for more rows than are."""
    latent = torch.tensor([[-4.5, 3.75, 1.25, 100.0], [-100.0, 5.0, 7.0, -8.5]])
    scales = torch.tensor([[0.5, 2.0, 9.0], [0.25, 1.0, 9.0]])
    steps = [[-8, 7, 5, 7], [-8, 2, 7, -8]]
    found = et_vk.q4gsw_requant(latent, scales, 2)
    assert found.tolist() == [
        [(low + 8) + 16 * (high + 8) for low, high in zip(row[::2], row[1::2], strict=True)]
        for row in steps
    ]
