# SPDX-License-Identifier: BSD-3-Clause
"""The evaluator in integers: value = scale * (quantized + offset), whose results are shown here step by step."""

from __future__ import annotations

from dataclasses import replace

import pytest
import torch

from executorch.backends.qualcomm.aot.graph import (
    DataType,
    Encoding,
    EncodingType,
    Tensor,
    int32,
    uint32,
    uints,
)
from executorch.backends.qualcomm.test.one_operator import graph_of, per_tensor, static, tensor
from executorch.backends.qualcomm.test.reference.evaluator import evaluate

U8, S8, S32 = DataType.UFIXED_POINT_8, DataType.SFIXED_POINT_8, DataType.SFIXED_POINT_32
U16 = DataType.UFIXED_POINT_16
HALF = per_tensor(0.5, -10)


def like(dims: tuple[int, ...], dtype: DataType, encoding: Encoding | None) -> Tensor:
    return tensor(torch.empty(dims), dtype, encoding=encoding)


def run(kind: str, inputs: list[Tensor], output: Tensor, *values: torch.Tensor, **parameters):
    (found,) = evaluate(graph_of(kind, inputs, [output], parameters), values)
    return found


def test_quantize_rounds_to_even_and_stops_at_the_ends() -> None:
    x = torch.tensor([0.0, 0.25, 0.75, -1.0, -100.0, 1000.0])
    # x / 0.5 + 10 = 10, 10.5, 11.5, 8, -190, 2010
    wanted = torch.tensor([10, 10, 12, 8, 0, 255], dtype=torch.uint8)
    assert torch.equal(run("Quantize", [tensor(x)], like((6,), U8, HALF), x), wanted)
    back = run("Dequantize", [like((6,), U8, HALF)], tensor(x), wanted)
    assert back.tolist() == [0.0, 0.0, 1.0, -1.0, -5.0, 122.5]
    wide = per_tensor(0.25, -40)
    found = run("Convert", [like((6,), U8, HALF)], like((6,), U16, wide), wanted)
    assert found.tolist() == [40, 40, 44, 36, 20, 530]


def test_an_addition_of_two_encodings() -> None:
    x, y = torch.tensor([12, 14], dtype=torch.uint8), torch.tensor([-4, 8], dtype=torch.int8)
    # 0.5 * (12 - 10) = 1, 2; 0.25 * (-4 + 0) = -1, 2; sums 0, 4; / 0.1 + 3
    reads = [like((2,), U8, HALF), like((2,), S8, per_tensor(0.25, 0))]
    found = run("ElementWiseAdd", reads, like((2,), U8, per_tensor(0.1, -3)), x, y)
    assert found.tolist() == [3, 43]


def test_a_matrix_by_blocks_of_its_rows() -> None:
    x = torch.tensor([[11, 12, 10, 14]], dtype=torch.uint8)  # 0.5, 1, 0, 2
    encoding = Encoding(
        EncodingType.BLOCKWISE_EXPANSION, (0.5, 0.25), (0, 0), 0, 4, bytes([1, 2, 3, 16])
    )
    data = torch.tensor([[1, -8, 7, 2], [2, 4, -1, 3]], dtype=torch.int8)
    weight = static(data, S8, encoding=encoding)
    # 0.5 * (0.5 - 8) + 1 * 4 = 0.25; 0.75 * (1 + 4) + 4 * 6 = 27.75
    output = like((1, 2), U16, per_tensor(0.25, 0))
    found = run("FullyConnected", [like((1, 4), U8, HALF), weight], output, x)
    assert found.tolist() == [[1, 111]]
    # The same as a convolution of one pixel, whose output channels are last.
    filters = static(data.T.reshape(1, 1, 4, 2), S8, encoding=replace(encoding, axis=3))
    pixels, result = like((1, 1, 1, 4), U8, HALF), like((1, 1, 1, 2), U16, per_tensor(0.25, 0))
    strides = {"stride": uints([1, 1]), "pad_amount": uints([0] * 4, 2, 2)}
    assert run(
        "Conv2d", [pixels, filters], result, x.reshape(1, 1, 1, 4), **strides
    ).flatten().tolist() == [1, 111]


def test_a_matrix_of_rows_with_their_own_scales_and_a_bias() -> None:
    x = torch.tensor([[12, 14]], dtype=torch.uint8)
    encoding = Encoding(EncodingType.AXIS_SCALE_OFFSET, (0.5, 0.25), (0, 0), axis=0)
    weight = static(torch.tensor([[1, 2], [-3, 4]], dtype=torch.int8), S8, encoding=encoding)
    scales = Encoding(EncodingType.AXIS_SCALE_OFFSET, (0.25, 0.125), (0, 0), axis=0)
    bias = static(torch.tensor([8, -8], dtype=torch.int32), S32, encoding=scales)
    # (2, 4) by rows: 10 and 10; + biases: 18 and 2; * (0.25, 0.125) = 4.5 and 0.25; / 0.5 + 10
    output = like((1, 2), U8, HALF)
    found = run("FullyConnected", [like((1, 2), U8, HALF), weight, bias], output, x)
    assert found.tolist() == [[19, 10]]


def test_sums_of_products_are_exact() -> None:
    """Of 16 bits: 512 products of 2 ** 30 and 512 that nearly cancel them."""
    many = 1024
    x = torch.full((1, many), 32769, dtype=torch.int32)
    weight = torch.full((1, many), 32767, dtype=torch.int16)
    weight[:, ::2] = -32766
    # 512 * 32769 * (32767 - 32766)
    total = 512 * 32769
    reads = [
        like((1, many), U16, per_tensor(1.0, 0)),
        static(weight, DataType.SFIXED_POINT_16, encoding=per_tensor(1.0, 0)),
    ]
    assert run("FullyConnected", reads, like((1, 1), S32, per_tensor(1.0, 0)), x).item() == total


@pytest.mark.parametrize("is_masked", [False, True])
def test_weights_of_four_bits(is_masked: bool) -> None:
    """In the low bits of each byte: -3 is 13. Scales are of output channels, HWIO's last."""
    encoding = Encoding(EncodingType.BW_AXIS_SCALE_OFFSET, (0.5, 1.0), (0, 0), axis=3, bitwidth=4)
    numbers = torch.tensor([[7, -3], [-7, 2]], dtype=torch.int8)
    stored = (numbers & 0xF if is_masked else numbers).reshape(1, 1, 2, 2)
    weight = static(stored, S8, encoding=encoding)
    x = torch.tensor([12, 13], dtype=torch.uint8).reshape(1, 1, 1, 2)
    # (2, 3) by (7, -7) = -7, by (-3, 2) = 0; * 0.5 * (0.5, 1) = -1.75 and 0; / 0.25 + 10
    found = run(
        "Conv2d",
        [like((1, 1, 1, 2), U8, HALF), weight],
        like((1, 1, 1, 2), U8, per_tensor(0.25, -10)),
        x,
        stride=uints([1, 1]),
        pad_amount=uints([0] * 4, 2, 2),
    )
    assert found.flatten().tolist() == [3, 10]


def test_padding_of_a_convolution_is_zero_and_not_the_quantized_value_zero() -> None:
    weight = static(torch.ones(3, 1, 1, 1, dtype=torch.int8), S8, encoding=per_tensor(1.0, 0))
    x = torch.tensor([11, 12], dtype=torch.uint8).reshape(1, 2, 1, 1)
    # 0.5 and 1 between zeros: sums 1.5 and 1.5
    image = like((1, 2, 1, 1), U8, HALF)
    shape = {"stride": uints([1, 1]), "pad_amount": uints([1, 1, 0, 0], 2, 2)}
    assert run("Conv2d", [image, weight], image, x, **shape).flatten().tolist() == [13, 13]


def test_scales_of_a_transposed_convolution_repeat_for_each_group() -> None:
    """Two groups of one input and two outputs; the scales are of the two outputs of a group."""
    encoding = Encoding(EncodingType.AXIS_SCALE_OFFSET, (1.0, 0.5), (0, 0), axis=3)
    weight = torch.tensor([[2, 4], [6, 8]], dtype=torch.int8).reshape(1, 1, 2, 2)
    x = torch.tensor([12, 14], dtype=torch.uint8).reshape(1, 1, 1, 2)
    # 1 * (2, 4) * (1, 0.5) = 2, 2; 2 * (6, 8) * (1, 0.5) = 12, 8; / 0.5 + 10
    found = run(
        "TransposeConv2d",
        [like((1, 1, 1, 2), U8, HALF), static(weight, S8, encoding=encoding)],
        like((1, 1, 1, 4), U8, HALF),
        x,
        stride=uints([1, 1]),
        pad_amount=uints([0] * 4, 2, 2),
        group=uint32(2),
    )
    assert found.flatten().tolist() == [14, 14, 34, 26]


def test_the_constant_of_a_pad_is_a_quantized_value() -> None:
    x = torch.tensor([20, 30], dtype=torch.uint8)
    parameters = {"scheme": uint32(0), "pad_amount": uints([1, 1], 1, 2)}
    output = like((4,), U8, HALF)
    found = run(
        "Pad", [like((2,), U8, HALF)], output, x, **parameters, pad_constant_value=int32(12)
    )
    assert found.tolist() == [12, 20, 30, 12]


def test_float_activations_with_quantized_weights() -> None:
    weight = static(torch.tensor([[2, 4]], dtype=torch.int8), S8, encoding=per_tensor(0.5, 0))
    x = torch.tensor([[1.0, 2.0]])
    assert run("FullyConnected", [tensor(x), weight], tensor(torch.empty(1, 1)), x).item() == 5.0
