# SPDX-License-Identifier: BSD-3-Clause
"""Graphs as the rows write them, run by the evaluator, beside eager: every case of graph_cases.py. Two people's reading
of QNN's definitions meet here; a fault of one of them is a difference."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace

import pytest
import torch

from executorch.backends.qualcomm.aot.graph import (
    Graph,
    Parameter,
    flag,
    float32,
    int32,
    ints,
    uint32,
    uints,
)
from executorch.backends.qualcomm.quantizer.quantizer import QuantDtype
from executorch.backends.qualcomm.test import evaluated
from executorch.backends.qualcomm.test.graph_cases import FAMILIES, Case, fn
from executorch.backends.qualcomm.test.recorder import Recorder, lowered, quantized
from executorch.backends.test.graph_run import InvalidGraph

CASES = {case.name: case for cases in FAMILIES.values() for case in cases}
# Of numbers above 0 only.
POSITIVE = {"log", "rsqrt", "sqrt", "pow"}


def inputs_of(case: Case) -> tuple[torch.Tensor, ...]:
    """On both sides of 0, so that padding with it and signs tell."""
    shift = 0.0 if case.name in POSITIVE else 0.4
    return tuple(x - shift if x.is_floating_point() else x for x in case.inputs())


def difference(
    case: Case,
    dtype: QuantDtype | None = None,
    changed: Callable[[Graph], Graph] = lambda graph: graph,
) -> str:
    """Empty where the evaluator agrees; in integers, with the quantized program of PyTorch, but for one step where that
    rounded in float32."""
    model, inputs, door = case.model(), inputs_of(case), Recorder()
    if dtype is not None:
        model = quantized(model, inputs, dtype)
    program = lowered(model, inputs, door).exported_program()
    wanted = model(*inputs)
    wanted = [wanted] if isinstance(wanted, torch.Tensor) else list(wanted)
    try:
        found = evaluated.run(program, door, inputs, changed)
    except InvalidGraph as error:
        return str(error)
    step = max(map(_step, door.graphs), default=0.0)
    for want, got in zip(wanted, found, strict=True):
        if want.shape != got.shape:
            return f"sizes {tuple(want.shape)} and {tuple(got.shape)}"
        if not torch.allclose(want.double(), got.double(), 1e-5, 1e-5 + 1.001 * step, True):
            return f"by {(want.double() - got.double()).abs().max():g}, a step is {step:g}"
    return ""


def _step(graph: Graph) -> float:
    """Between two of the results that leave as floats."""
    read = [each.inputs for each in graph.operators if each.type == "Dequantize"]
    return max((graph.tensors[place].encoding.scales[0] for (place,) in read), default=0.0)


@pytest.mark.parametrize("name", CASES)
def test_floats_are_those_of_eager(name: str) -> None:
    assert difference(CASES[name]) == ""


INTEGERS = ("conv2d", "conv2d_depthwise", "conv_transpose2d", "linear", "embedding", "network")


@pytest.mark.parametrize("name", INTEGERS)
@pytest.mark.parametrize(
    "dtype", [QuantDtype.use_8a8w, QuantDtype.use_16a4w], ids=lambda each: each.name
)
def test_integers_are_those_of_the_quantized_program(name: str, dtype: QuantDtype) -> None:
    assert difference(CASES[name], dtype) == ""


def test_a_part_that_nobody_reads_is_quantized_as_the_others() -> None:
    def outer(x: torch.Tensor) -> torch.Tensor:
        first, _, last = torch.relu(x).split([1, 2, 1], 1)
        return first - last

    assert difference(fn("outer", outer, (2, 4, 3)), QuantDtype.use_8a8w) == ""


@pytest.mark.full
@pytest.mark.parametrize("family", FAMILIES)
@pytest.mark.parametrize(
    "dtype", [QuantDtype.use_8a8w, QuantDtype.use_16a4w], ids=lambda each: each.name
)
def test_integers_of_all_cases(family: str, dtype: QuantDtype) -> None:
    found = {case.name: difference(case, dtype) for case in FAMILIES[family]}
    assert {name: each for name, each in found.items() if each} == {}


FAULTS: list[tuple[str, str, dict[str, Parameter]]] = [
    ("elu", "Elu", {"alpha": float32(1.0)}),
    ("clamp", "ReluMinMax", {"min_value": float32(0.0)}),
    ("hardsigmoid", "ElementWiseNeuron", {"operation": uint32(6)}),
    ("floor_divide", "ElementWiseBinary", {"operation": uint32(2)}),
    ("conv2d", "Conv2d", {"pad_amount": uints([1, 1, 0, 2], 2, 2)}),
    ("conv2d_groups", "Conv2d", {"group": uint32(1)}),
    ("conv2d_depthwise", "DepthWiseConv2d", {"dilation": uints([1, 1])}),
    ("conv_transpose2d", "TransposeConv2d", {"output_padding": uints([0, 0])}),
    ("avg_pool2d_padded", "PoolAvg2d", {"count_pad_for_edges": flag(True)}),
    ("max_pool2d", "PoolMax2d", {"stride": uints([1, 1])}),
    ("layer_norm", "LayerNorm", {"epsilon": float32(0.1)}),
    ("layer_norm_plain", "LayerNorm", {"axes": uints([1])}),
    ("softmax", "Softmax", {"beta": float32(2.0)}),
    ("amax", "ReduceMax", {"keep_dims": flag(True)}),
    ("cumsum", "CumulativeSum", {"reverse": flag(True)}),
    ("topk", "TopK", {"largest": flag(False)}),
    ("cat", "Concat", {"axis": uint32(0)}),
    ("split", "Split", {"split_index": uints([2])}),
    ("flip", "StridedSlice", {"ranges": ints([0, 2, 1, 0, 3, 1, 0, 4, 1], 3, 3)}),
    ("constant_pad", "Pad", {"pad_amount": uints([0, 0, 1, 0, 2, 1], 3, 2)}),
    ("reflection_pad2d", "Pad", {"scheme": uint32(1)}),
    ("index_select", "Gather", {"axis": int32(2)}),
    ("pixel_shuffle", "DepthToSpace", {"mode": uint32(0), "block_size": uints([1, 4])}),
    ("bilinear", "ResizeBilinear", {"half_pixel_centers": flag(False)}),
    ("bicubic", "Resize", {"transformation_mode": uint32(3)}),
    ("channel_shuffle", "ChannelShuffle", {"num_groups": uint32(4)}),
    ("grid_sample", "GridSample", {"align_corners": flag(True)}),
    ("permute", "Transpose", {"perm": uints([1, 0, 2])}),
]


@pytest.mark.parametrize("fault", FAULTS, ids=lambda fault: "-".join((fault[0], *fault[2])))
def test_a_fault_in_a_parameter_is_noticed(fault: tuple[str, str, dict[str, Parameter]]) -> None:
    name, kind, parameters = fault
    planted = []

    def changed(graph: Graph) -> Graph:
        operators = [
            replace(each, parameters={**each.parameters, **parameters})
            if each.type == kind
            else each
            for each in graph.operators
        ]
        planted.extend(each for each in operators if each.type == kind)
        return replace(graph, operators=tuple(operators))

    assert difference(CASES[name], changed=changed)
    assert planted


@pytest.mark.parametrize("name", ["sub", "div", "lt", "where", "cat", "matmul", "index_select"])
def test_inputs_in_another_order_are_noticed(name: str) -> None:
    def changed(graph: Graph) -> Graph:
        *rest, operator = graph.operators
        *first, one, other = operator.inputs
        return replace(graph, operators=(*rest, replace(operator, inputs=(*first, other, one))))

    assert difference(CASES[name], changed=changed)


@pytest.mark.parametrize("name", ["relu", "linear", "softmax", "cat", "conv2d"])
def test_a_fault_in_an_encoding_is_noticed(name: str) -> None:
    """Of what is dequantized: the offset of uint8 read as that of int8."""

    def changed(graph: Graph) -> Graph:
        tensors = list(graph.tensors)
        for operator in graph.operators:
            if operator.type == "Dequantize":
                (place,) = operator.inputs
                encoding = tensors[place].encoding
                moved = replace(encoding, offsets=(encoding.offsets[0] - 128,))
                tensors[place] = replace(tensors[place], encoding=moved)
        return replace(graph, tensors=tuple(tensors))

    assert difference(CASES[name], QuantDtype.use_8a8w, changed)
