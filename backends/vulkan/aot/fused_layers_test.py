# SPDX-License-Identifier: BSD-3-Clause
"""Layers between what dequantizes and what quantizes: which calls they become on both sides of each condition, and that
these mean the same."""

from __future__ import annotations

from collections import Counter
from typing import Any

import pytest
import torch
from torch import Tensor, nn

from executorch.backends.test.corpus.row import integers, numbers
from executorch.backends.vulkan.test.lowered import chain, check_values, left, lower

q = torch.ops.quantized_decomposed
X, IMAGE = numbers(3, 16), numbers(1, 8, 6, 6)
IN, OUT, LIMITED = (0.05, 3), (0.07, -9), (0.07, -128)
LOW, HIGH = -128, 127
PACK, PAIRS, PLUS = (
    "aten._weight_int8pack_mm.default",
    "et_vk.linear_qcs4w.default",
    "aten.add.Tensor",
)
GROUPS, LINEAR = "et_vk.linear_q4gsw.default", "aten.linear.default"
ROUND, READ = (
    f"quantized_decomposed.{name}_per_tensor.default" for name in ("quantize", "dequantize")
)
ROWS, STATIC = "et_vk.q8ta_linear.default", "et_vk.linear_q8ta_q8csw.default"


def stored(x: Tensor, scale: float, zero: int) -> Tensor:
    return q.quantize_per_tensor.default(x, scale, zero, LOW, HIGH, torch.int8)


def read(x: Tensor, scale: float, zero: int) -> Tensor:
    return q.dequantize_per_tensor.default(x, scale, zero, LOW, HIGH, torch.int8)


def rounded(x: Tensor, numbers: tuple[float, int]) -> Tensor:
    return read(stored(x, *numbers), *numbers)


class Layer(nn.Module):
    """`given`, `gives`: scale and zero point of the input and of what relu or the layer gives; None leaves floats.
    `turned`: a convolution that is transposed; a linear layer where there are no `sizes` of a filter."""

    def __init__(
        self, inside: int, outside: int, sizes: tuple[int, ...] = (), bits: int = 8, bias: bool = True,
         relu: bool = False,
        given: Any = None, gives: Any = None, by_channel: bool = True, groups: int = 1,
         turned: bool = False,
        zero: int = 0, **how: Any,
    ) -> None:  # fmt: skip
        super().__init__()
        shape = (
            (inside, outside // groups, *sizes) if turned else (outside, inside // groups, *sizes)
        )
        half = 2 ** (bits - 1)
        weight = (integers(2 * half, *shape) - half).to(torch.int8)
        weight.flatten()[0] = half - 1  # the largest that these bits hold
        self.register_buffer("weight", weight)
        axis = 1 if turned else 0
        count = shape[axis] if by_channel else 1
        self.register_buffer("scales", torch.linspace(0.01, 0.03, count))
        self.register_buffer("zeros", torch.full((count,), zero))
        self.register_buffer("bias", numbers(outside) if bias else None)
        self.axis, self.by_channel, self.groups, self.turned = axis, by_channel, groups, turned
        self.relu, self.given, self.gives, self.how = relu, given, gives, how

    def matrix(self) -> Tensor:
        if self.by_channel:
            return q.dequantize_per_channel.default(
                self.weight, self.scales, self.zeros, self.axis, LOW, HIGH, torch.int8
            )
        return q.dequantize_per_tensor.default(self.weight, 0.02, 0, LOW, HIGH, torch.int8)

    def forward(self, x: Tensor, bias: Tensor | None = None) -> Tensor:
        x = x if self.given is None else rounded(x, self.given)
        bias = self.bias if bias is None else bias
        if self.weight.dim() == 2:
            y = nn.functional.linear(x, self.matrix(), bias)
        else:
            many = nn.functional.conv_transpose2d if self.turned else nn.functional.conv2d
            y = many(x, self.matrix(), bias, groups=self.groups, **self.how)
        y = torch.relu(y) if self.relu else y
        return y if self.gives is None else rounded(y, self.gives)


def linear(*args: Any, **how: Any) -> Layer:
    return Layer(*(args or (16, 8)), **how)


LINEARS: dict[str, tuple[nn.Module, tuple[Tensor, ...], list[str]]] = {
    "8 bits": (linear(), (X,), [PACK, PLUS]),
    "8 bits without bias": (linear(bias=False), (X,), [PACK]),
    "4 bits": (linear(bits=4), (X,), [GROUPS]),
    "4 bits without bias": (linear(bits=4, bias=False), (X,), [PAIRS]),
    "5 bits are 8": (linear(bits=5, bias=False), (X,), [PACK]),
    "one scale": (linear(by_channel=False, bias=False), (X,), [PACK]),
    "three dimensions": (linear(bias=False), (X[None],), [PACK]),
    "four dimensions": (linear(bias=False), (X[None, None],), [LINEAR]),
    "a bias of the program's own": (linear(), (X, numbers(8)), [LINEAR]),
    "no symmetric weight": (linear(zero=3), (X,), [LINEAR]),
    "a stored input": (linear(given=IN), (X,), [ROUND, STATIC]),
    "a stored input without bias": (linear(given=IN, bias=False), (X,), [ROUND, STATIC]),
    "a stored result": (linear(given=IN, gives=OUT), (X,), [ROUND, ROWS, READ]),
    "one row": (linear(given=IN, gives=OUT), (X[:1],), [ROUND, ROWS.replace("linear", "linear_gemv"), READ]),
    "without bias": (linear(given=IN, gives=OUT, bias=False), (X,), [ROUND, ROWS, READ]),
    "limited": (linear(given=IN, gives=LIMITED, relu=True), (X,), [ROUND, ROWS, READ]),
    "five columns": (linear(6, 8, given=IN, bias=False), (X[:, :6],), [ROUND, READ, PACK]),
    "fewer rows than 4": (linear(16, 3, given=IN, gives=OUT), (X,), [ROUND, ROWS, READ]),
}  # fmt: skip
CONV, DEPTH, POINT, TURNED = (
    f"et_vk.q8ta_conv2d{each}.default" for each in ("", "_dw", "_pw", "_transposed")
)
PLAIN = "aten.convolution.default"


def conv(inside: int = 8, outside: int = 8, size: int = 3, **how: Any) -> Layer:
    return Layer(inside, outside, (size, size), **{"given": IN, "gives": OUT, **how})


CONVOLUTIONS: dict[str, tuple[nn.Module, tuple[Tensor, ...], str]] = {
    "plain": (conv(padding=1), (IMAGE,), CONV),
    "without bias": (conv(bias=False), (IMAGE,), CONV),
    "one scale": (conv(by_channel=False), (IMAGE,), CONV),
    "strides and dilation": (conv(stride=(1, 2), dilation=(2, 1), padding=(0, 1)), (IMAGE,), CONV),
    "groups of 4": (conv(groups=2), (IMAGE,), CONV),
    "groups of 3": (conv(8, 6, groups=2), (IMAGE,), PLAIN),
    "three filters": (conv(8, 3), (IMAGE,), CONV),
    "depthwise": (conv(groups=8), (IMAGE,), DEPTH),
    "depthwise of 6": (conv(6, 6, groups=6), (IMAGE[:, :6],), PLAIN),
    "twice as deep": (conv(2, 8, groups=2), (IMAGE[:, :2],), CONV),
    "point": (conv(size=1), (IMAGE,), POINT),
    "point without bias": (conv(size=1, bias=False), (IMAGE,), POINT),
    "point with stride": (conv(size=1, stride=2), (IMAGE,), CONV),
    "point with padding": (conv(size=1, padding=1), (IMAGE,), CONV),
    "point in groups": (conv(size=1, groups=2), (IMAGE,), CONV),
    "transposed": (conv(turned=True, stride=2, output_padding=1), (IMAGE,), TURNED),
    "transposed, groups of 4": (conv(turned=True, groups=2), (IMAGE,), TURNED),
    "transposed, groups of 3": (conv(8, 6, turned=True, groups=2), (IMAGE,), PLAIN),
    "transposed, five filters": (conv(8, 5, turned=True), (IMAGE,), TURNED),
    "transposed, dilated": (conv(turned=True, dilation=2), (IMAGE,), PLAIN),
    "a bias of the program's own": (conv(), (IMAGE, numbers(8)), PLAIN),
    "no symmetric weight": (conv(zero=3), (IMAGE,), PLAIN),
    "limited": (conv(gives=LIMITED, relu=True), (IMAGE,), CONV),
}  # fmt: skip


@pytest.mark.parametrize("name", LINEARS)
def test_linear_layers(name: str) -> None:
    layer, inputs, expected = LINEARS[name]
    edge = check_values(layer, inputs, atol=0.071 if layer.gives else 1e-4)
    assert [each for each in chain(edge) if "view" not in each] == expected and not left(edge)


@pytest.mark.parametrize("name", CONVOLUTIONS)
def test_convolutions(name: str) -> None:
    layer, inputs, expected = CONVOLUTIONS[name]
    found = chain(check_values(layer, inputs, atol=0.071))
    assert expected in found and (len(found) == 3) is (expected != PLAIN), found


A, B = (0.03, 5), (0.02, -3)
SUMS: dict[str, tuple[Any, bool]] = {
    "sum": (lambda x, y: rounded(rounded(x, A) + rounded(y, B), OUT), True),
    "sum of a multiple": (lambda x, y: rounded(torch.add(rounded(x, A), rounded(y, B), alpha=2), OUT), True),
    "limited": (lambda x, y: rounded(torch.relu(rounded(x, A) + rounded(y, B)), LIMITED), True),
    "limited above what is stored": (lambda x, y: rounded(torch.relu(rounded(x, A) + rounded(y, B)), OUT), False),
    "of other sizes": (lambda x, y: rounded(rounded(x, A) + rounded(y[:1], B), OUT), False),
}  # fmt: skip


class Of(nn.Module):
    def __init__(self, function: Any) -> None:
        super().__init__()
        self.function = function

    def forward(self, *inputs: Tensor) -> Tensor:
        return self.function(*inputs)


def test_sums() -> None:
    for name, (code, is_one) in SUMS.items():
        edge = check_values(Of(code), (X, X.flip(0)), atol=0.071)
        assert ("et_vk.q8ta_add.default" in chain(edge)) is is_one, (name, chain(edge))


# ---- Weights that no row of a quantized layer takes ----

SCALES, ZEROS = torch.linspace(0.01, 0.03, 8), torch.zeros(8, dtype=torch.int64)


def dequantized(weight: Tensor, axis: int = 0) -> Tensor:
    scales, zeros = SCALES[: weight.shape[axis]], ZEROS[: weight.shape[axis]]
    return q.dequantize_per_channel.default(weight, scales, zeros, axis, LOW, HIGH, torch.int8)


def small(*sizes: int, low: int = -8, high: int = 7) -> Tensor:
    """Of 4 bits, with both ends, unless said."""
    weight = (integers(16, *sizes) - 8).to(torch.int8)
    weight.flatten()[:2] = torch.tensor([low, high])
    return weight


def test_weights_that_are_given() -> None:
    """An input of the program: the layer is one of floats, and what makes them stays outside."""
    conv = nn.functional.conv2d
    for layer, x, weight, name in (
        (nn.functional.linear, X, small(8, 16), LINEAR),
        (lambda x, w: rounded(nn.functional.linear(rounded(x, IN), w), OUT), X, small(8, 16), LINEAR),
        (lambda x, w: rounded(conv(rounded(x, IN), w), OUT), IMAGE, small(8, 8, 3, 3), PLAIN),
        (nn.functional.embedding, torch.tensor([[1, 7]]), small(8, 32), TABLE),
    ):  # fmt: skip
        edge = lower(Of(lambda x, w, layer=layer: layer(x, dequantized(w))), (x, weight))
        assert left(edge) == ["quantized_decomposed.dequantize_per_channel.default"], name
        assert [each for each in chain(edge) if "quantize" not in each] == [name]


def by_rows(x: Tensor) -> Tensor:
    """Quantized while running, each row by its own numbers."""
    chosen = q.choose_qparams_per_token_asymmetric.default(x, torch.int8)
    whole = q.quantize_per_token.default(x, *chosen, LOW, HIGH, torch.int8)
    return q.dequantize_per_token.default(whole, *chosen, LOW, HIGH, torch.int8, torch.float32)


def stored_as(x: Tensor, low: int, high: int, dtype: torch.dtype) -> Tensor:
    numbers = (0.05, 3, low, high, dtype)
    return q.dequantize_per_tensor.default(q.quantize_per_tensor.default(x, *numbers), *numbers)


VECTOR, MATRIX, WIDE, SQUARE = small(16), small(8, 16), small(8, 16, high=127), small(8, 8)
BY_GROUP = torch.full((8, 2), 0.02), torch.zeros(8, 2, dtype=torch.int64)
BY_TOKEN = torch.full((3, 1), 0.05), torch.zeros(3, 1, dtype=torch.int64)


def grouped(weight: Tensor) -> Tensor:
    how = (LOW, HIGH, torch.int8, 8, torch.float32)
    return q.dequantize_per_channel_group.default(weight, *BY_GROUP, *how)


def of_one_scale(weight: Tensor, dtype: torch.dtype = torch.float32) -> Tensor:
    return q.dequantize_per_tensor.default(weight, 0.02, 0, LOW, HIGH, torch.int8, out_dtype=dtype)


CHAIN = [
    f"quantized_decomposed.{name}"
    for name in (
        "choose_qparams_per_token_asymmetric.default",
        "quantize_per_token.default",
        "dequantize_per_token.default",
    )
]
# The input of a linear layer and its weight; what becomes of them, and what stays outside.
LAYERS: dict[str, tuple[Any, Any, Tensor, list[str], list[str]]] = {
    "a vector": (rounded, lambda: of_one_scale(VECTOR), X, [ROUND, READ, LINEAR], []),
    "halves": (None, lambda: of_one_scale(MATRIX, torch.float16), X.half(), [PAIRS], []),
    "doubles": (None, lambda: of_one_scale(MATRIX, torch.float64), X.double(), [], [READ, LINEAR]),
    "scales of columns": (None, lambda: dequantized(SQUARE, 1), X[:, :8], [LINEAR], []),
    "scales of columns, a stored input": (
        rounded, lambda: dequantized(SQUARE, 1), X[:, :8], [ROUND, READ, LINEAR], []),
    "groups": (None, lambda: grouped(MATRIX), X[None, None], [GROUPS], []),
    "groups, a stored input": (rounded, lambda: grouped(MATRIX), X, [ROUND, READ, GROUPS], []),
    "groups of 8 bits": (None, lambda: grouped(WIDE), X, [LINEAR], []),
    "rows while running": (by_rows, lambda: grouped(MATRIX), X, [GROUPS], []),
    "rows while running, groups of 8 bits": (by_rows, lambda: grouped(WIDE), X, [LINEAR], CHAIN),
    "rows that are given": (
        lambda x: q.dequantize_per_token.default(x, *BY_TOKEN, LOW, HIGH, torch.int8, torch.float32),
        lambda: grouped(MATRIX), X.round().char(), [GROUPS], CHAIN[2:]),
    **{f"{low} to {high}": (
        lambda x, low=low, high=high, dtype=dtype: stored_as(x, low, high, dtype),
        lambda: dequantized(MATRIX), X, [PAIRS], [ROUND, READ])
       for low, high, dtype in ((0, 255, torch.uint8), (-127, 127, torch.int8), (-128, 126, torch.int8))},
}  # fmt: skip


@pytest.mark.parametrize("name", LAYERS)
def test_inputs_and_weights_of_linear_layers(name: str) -> None:
    given, weight, x, inside, outside = LAYERS[name]

    def layer(x: Tensor) -> Tensor:
        x = x if given is None else given(x, IN) if given is rounded else given(x)
        return nn.functional.linear(x, weight())

    edge = lower(Of(layer), (x,))
    assert (chain(edge), left(edge)) == (inside, outside)


TABLE, PACKED = "aten.embedding.default", "et_vk.embedding_q4gsw.default"


class Table(nn.Module):
    """`group`: columns of one scale."""

    def __init__(self, weight: Tensor, axis: int = 0, group: int = 0) -> None:
        super().__init__()
        rows, columns = weight.shape
        sizes = (rows, columns // group) if group else (weight.shape[axis],)
        scales = torch.linspace(0.01, 0.03, torch.Size(sizes).numel()).view(sizes)
        self.axis, self.group = axis, group
        self.register_buffer("weight", weight)
        self.register_buffer("scales", scales)
        self.register_buffer("zeros", torch.zeros(sizes, dtype=torch.int64))

    def forward(self, places: Tensor) -> Tensor:
        stored, how = (self.weight, self.scales, self.zeros), (LOW, HIGH, torch.int8)
        if self.group:
            matrix = q.dequantize_per_channel_group.default(
                *stored, *how, self.group, torch.float32
            )
        else:
            matrix = q.dequantize_per_channel.default(*stored, self.axis, *how)
        return nn.functional.embedding(places, matrix)


def test_tables() -> None:
    """Those of 4 bits with a multiple of 32 columns are packed, with scales for rows or for groups of columns."""
    for name, table, expected in (
        ("32 columns", Table(small(8, 32)), PACKED),
        ("64 columns", Table(small(8, 64)), PACKED),
        ("groups of 8", Table(small(8, 64), group=8), PACKED),
        ("groups of 32", Table(small(8, 64), group=32), PACKED),
        ("one group", Table(small(8, 32), group=32), PACKED),
        ("48 columns", Table(small(8, 48)), TABLE),
        ("groups of 16 columns", Table(small(8, 48), group=16), TABLE),
        ("-9", Table(small(8, 32, low=-9)), TABLE),
        ("8", Table(small(8, 32, high=8)), TABLE),
        ("scales of columns", Table(small(32, 32), axis=1), TABLE),
    ):
        edge = check_values(table, (torch.tensor([[1, 0, 7]]),))
        assert (chain(edge), left(edge)) == ([expected], []), name


@pytest.mark.parametrize("name", ["linears", "convolutions", "one weight", "sums", "dynamic"])
def test_what_several_layers_read(name: str) -> None:
    """One input that is stored, or one weight: each layer is one call of stored values."""
    weights, filters = (small(8, 16), small(4, 16)), (small(8, 8, 3, 3), small(4, 8, 1, 1))

    def linears(x: Tensor) -> Any:
        x = rounded(x, IN)
        return [rounded(nn.functional.linear(x, dequantized(each)), OUT) for each in weights]

    def convolutions(x: Tensor) -> Any:
        x = rounded(x, IN)
        return [rounded(nn.functional.conv2d(x, dequantized(each)), OUT) for each in filters]

    def one_weight(x: Tensor) -> Any:
        matrix = dequantized(weights[0])
        inputs = (rounded(x, IN), rounded(x * 2, IN))
        return [rounded(nn.functional.linear(each, matrix), OUT) for each in inputs]

    def sums(x: Tensor) -> Any:
        x = rounded(x, IN)
        return rounded(x + x.relu(), OUT), rounded(x + x, OUT), rounded(x.relu(), LIMITED)

    def dynamic(x: Tensor) -> Any:
        x = by_rows(x)
        return [
            nn.functional.linear(x, grouped(MATRIX)),
            nn.functional.linear(x, grouped(MATRIX)) * 2,
        ]

    layers, x, calls = {
        "linears": (linears, X, {ROWS: 2}),
        "convolutions": (convolutions, IMAGE, {CONV: 1, POINT: 1}),
        "one weight": (one_weight, X, {ROWS: 2}),
        "sums": (sums, X, {"et_vk.q8ta_add.default": 1, "et_vk.q8ta_relu.default": 1}),
        "dynamic": (dynamic, X, {GROUPS: 2}),
    }[name]
    edge = lower(Of(layers), (x,))
    found = Counter(each for each in chain(edge) if each.startswith("et_vk"))
    assert (dict(found), left(edge)) == (calls, [])
