# SPDX-License-Identifier: BSD-3-Clause
"""Rows that the released package has no graph of, or another one: what is written of them is said here."""

from __future__ import annotations

from collections.abc import Callable

import pytest
import torch
from torch import Tensor
from torch.nn import functional as F

from executorch.backends.qualcomm.aot.compiler import constants_of
from executorch.backends.qualcomm.aot.graph import DataType, Graph
from executorch.backends.qualcomm.aot.graph_text import lines
from executorch.backends.qualcomm.aot.ops import TABLE
from executorch.backends.qualcomm.aot.writer import GraphWriter
from executorch.backends.qualcomm.quantizer.quantizer import QuantDtype
from executorch.backends.qualcomm.test.graph_cases import Function
from executorch.backends.qualcomm.test.recorder import Recorder, left, lowered, quantized

X, SEQUENCE = torch.rand(2, 3, 4), torch.rand(1, 3, 8)
INDEX = torch.tensor([2, 0, 1])
IMAGE = torch.rand(1, 4, 8, 6)


def recorded(model: torch.nn.Module, *inputs: Tensor) -> Graph:
    """Nothing is left undelegated."""
    door = Recorder()
    manager = lowered(model, inputs, door)
    assert left(manager) == []
    (graph,) = door.graphs
    return graph


def graph_of(function: Callable[..., Tensor], *inputs: Tensor) -> list[str]:
    return lines(recorded(Function(function).eval(), *inputs))


def test_values_and_places_of_largest_ones() -> None:
    assert graph_of(lambda x: torch.max(x, 1), X) == [
        "ReduceMax  F32[2,3,4] -> F32[2,4]  axes=U32[1](1)",
        "Argmax  F32[2,3,4] -> I32[2,4]  axis=U32(1)",
        "Cast  I32[2,4] -> I64[2,4]",
    ]
    assert graph_of(lambda x: torch.min(x, 2, keepdim=True).values, X) == [
        "ReduceMin  F32[2,3,4] -> F32[2,3,1]  axes=U32[1](2) keep_dims=B8(1)"
    ]
    assert graph_of(lambda x: torch.argmax(x), X) == [
        "Reshape  F32[2,3,4] -> F32[24]",
        "Argmax  F32[24] -> I32[1]  axis=U32(0)",
        "Cast  I32[1] -> I64[1]",
    ]


def test_one_tensor_of_indices() -> None:
    found = graph_of(lambda x: x[:, INDEX], X)
    assert [line.split("=")[0] for line in found] == ["Gather  F32[2,3,4] I32[3]"]
    assert found[0].endswith(" -> F32[2,3,4]  axis=I32(1)")


@pytest.mark.parametrize(
    "function", [lambda x: F.avg_pool1d(x, 2), lambda x: F.adaptive_avg_pool1d(x, 4)]
)
def test_pooling_over_one_dimension(function: Callable[..., Tensor]) -> None:
    found = graph_of(function, SEQUENCE)
    kinds = [line.split("  ")[0] for line in found]
    assert kinds == ["Transpose", "Reshape", "PoolAvg2d", "Reshape", "Transpose"]
    assert "F32[1,1,8,3] -> F32[1,1,4,3]" in found[2]
    assert "filter_size=U32[2](1,2)" in found[2] and "stride=U32[2](1,2)" in found[2]


def test_a_constant_that_a_call_makes() -> None:
    lined_up, add = graph_of(lambda x: x + torch.full((3, 4), 2.0), X)
    assert lined_up.startswith("Reshape  F32[3,4]=") and lined_up.endswith(" -> F32[1,3,4]")
    assert add == "ElementWiseAdd  F32[2,3,4] F32[1,3,4] -> F32[2,3,4]"


def test_images_that_lie_channels_last_are_not_transposed() -> None:
    """In memory as QNN has them."""
    image = torch.rand(1, 3, 8, 8).to(memory_format=torch.channels_last)
    (pool,) = graph_of(lambda x: F.avg_pool2d(x, 2), image)
    assert pool.startswith("PoolAvg2d  F32[1,8,8,3] -> F32[1,4,4,3]")


def test_integers_of_64_bits_are_cast_at_the_boundary() -> None:
    assert graph_of(lambda x: x + x, torch.arange(6)) == [
        "Cast  I64[6] -> I32[6]",
        "ElementWiseAdd  I32[6] I32[6] -> I32[6]",
        "Cast  I32[6] -> I64[6]",
    ]


def test_elu_with_factors_stays_on_the_cpu() -> None:
    """QNN's Elu has alpha alone; the factors were left out, and selu was wrong by 0.02."""
    manager = lowered(Function(F.selu).eval(), (X,), Recorder())
    assert "aten.elu.default" in left(manager)
    assert graph_of(lambda x: F.elu(x, 0.5), X)[0].startswith("Elu ")


def kinds_of(found: list[str]) -> list[str]:
    return [line.split("  ")[0] for line in found]


def test_a_variance_without_dimensions_is_of_all() -> None:
    found = graph_of(lambda x: torch.ops.aten.var.correction(x, None, correction=1), X)
    assert found[0].endswith("axes=U32[3](0,1,2) keep_dims=B8(1)")
    assert found[-1].startswith("ElementWiseMultiply  F32[1] ")


def test_images_are_repeated_channels_last() -> None:
    found = graph_of(lambda x: F.avg_pool2d(F.avg_pool2d(x, 2).repeat(1, 1, 2, 3), 2), IMAGE)
    assert kinds_of(found) == ["Transpose", "PoolAvg2d", "Tile", "PoolAvg2d", "Transpose"]
    assert found[2].endswith("F32[1,4,3,4] -> F32[1,8,9,4]  multiples=U32[4](1,2,3,1)")


def test_new_dimensions_come_before_repetitions() -> None:
    found = graph_of(lambda x: x.expand(2, 3, 4), torch.rand(4))
    assert found == [
        "Reshape  F32[4] -> F32[1,1,4]",
        "Tile  F32[1,1,4] -> F32[2,3,4]  multiples=U32[3](2,3,1)",
    ]


def test_images_are_split_channels_last() -> None:
    def halves(x: Tensor) -> list[Tensor]:
        return [F.avg_pool2d(each, 2) for each in F.avg_pool2d(x, 2).split([1, 3], 1)]

    found = graph_of(halves, IMAGE)
    sizes, _, places = found[2].rpartition("  ")
    assert sizes == "Split  F32[1,4,3,4] -> F32[1,4,3,1] F32[1,4,3,3]"
    assert places == "axis=U32(3) split_index=U32[1](1)"
    assert kinds_of(found).count("Transpose") == 3  # of the input, and of both results


def test_an_output_of_an_odd_order_is_read_channels_last() -> None:
    """Columns come before rows in memory, of the input and of one output; pooling reads rows first."""

    def doubled_and_pooled(x: Tensor) -> tuple[Tensor, Tensor]:
        doubled = x * 2
        return doubled, F.avg_pool2d(doubled, 2)

    found = graph_of(doubled_and_pooled, IMAGE.transpose(2, 3).contiguous().transpose(2, 3))
    (pool,) = [line for line in found if line.startswith("PoolAvg2d")]
    assert pool.startswith("PoolAvg2d  F32[1,8,6,4] -> F32[1,4,3,4]")
    (turned,) = [line for line in found if "-> F32[1,8,6,4]" in line]
    assert turned == "Transpose  F32[1,4,8,6] -> F32[1,8,6,4]  perm=U32[4](0,2,3,1)"


def test_the_usual_slope_of_leaky_relu() -> None:
    graph = recorded(torch.nn.LeakyReLU(), X)
    (slope,) = [each.data for each in graph.tensors if each.data is not None]
    assert slope.flatten().tolist() == [pytest.approx(0.01, rel=1e-6)]


def test_values_of_16_bits_have_two_bytes() -> None:
    torch.manual_seed(0)
    model = quantized(torch.nn.Linear(4, 3), (X,), QuantDtype.use_16a16w)
    data = [each for each in recorded(model, X).tensors if each.data is not None]
    found = {each.dtype: each.data.dtype for each in data}
    assert found == {DataType.SFIXED_POINT_16: torch.int16, DataType.SFIXED_POINT_32: torch.int32}


def test_a_bias_that_is_made_has_32_bits() -> None:
    """RmsNorm has a bias, PyTorch's has none."""
    model = quantized(torch.nn.RMSNorm(4), (X,), QuantDtype.use_8a8w)
    tensors = recorded(model, X).tensors
    (bias,) = [each for each in tensors if each.dtype is DataType.SFIXED_POINT_32]
    assert bias.data.dtype == torch.int32 and not bias.data.any()


def test_what_is_no_tensor_is_not_taken() -> None:
    program = torch.export.export(Function(lambda x: x + 1), (X,))
    node = next(iter(program.graph.nodes))
    writer = GraphWriter(TABLE, constants_of(program), "forward")
    assert writer.why_not_taken(node) == ""
    for value in (None, 3, [node.meta["val"]]):
        node.meta["val"] = value
        assert writer.why_not_taken(node).startswith("expected one of torch.")


def test_numbers_of_types_are_those_of_the_sdk() -> None:
    """As the public documents print them."""
    assert {each.name: each.value for each in DataType} == {
        "INT_8": 0x0008, "INT_16": 0x0016, "INT_32": 0x0032, "INT_64": 0x0064,
        "UINT_8": 0x0108, "UINT_16": 0x0116, "UINT_32": 0x0132, "UINT_64": 0x0164,
        "FLOAT_16": 0x0216, "FLOAT_32": 0x0232,
        "SFIXED_POINT_8": 0x0308, "SFIXED_POINT_16": 0x0316, "SFIXED_POINT_32": 0x0332,
        "UFIXED_POINT_8": 0x0408, "UFIXED_POINT_16": 0x0416, "UFIXED_POINT_32": 0x0432,
        "BOOL_8": 0x0508, "UNDEFINED": 0x7FFFFFFF,
    }  # fmt: skip
