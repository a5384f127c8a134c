# SPDX-License-Identifier: BSD-3-Clause
"""Rows that the released package has no graph of, or another one: what is written of them is said here."""

from __future__ import annotations

from collections.abc import Callable

import pytest
import torch
from torch import Tensor
from torch.nn import functional as F

from executorch.backends.qualcomm.aot.graph_text import lines
from executorch.backends.qualcomm.test.graph_cases import Function
from executorch.backends.qualcomm.test.recorder import Recorder, left, lowered

X, SEQUENCE = torch.rand(2, 3, 4), torch.rand(1, 3, 8)
INDEX = torch.tensor([2, 0, 1])


def graph_of(function: Callable[..., Tensor], *inputs: Tensor) -> list[str]:
    """Nothing is left undelegated."""
    door = Recorder()
    manager = lowered(Function(function).eval(), inputs, door)
    assert left(manager) == []
    (graph,) = door.graphs
    return lines(graph)


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
