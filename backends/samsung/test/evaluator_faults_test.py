# SPDX-License-Identifier: BSD-3-Clause
"""The evaluator sees a graph that is another one: a parameter, the order of inputs, a constant, qparams."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace
from typing import Any

import pytest

from executorch.backends.samsung.aot.graph import Graph, Operator, Tensor
from executorch.backends.samsung.test.evaluated import difference, made
from executorch.backends.samsung.test.reference.evaluator import OPERATORS

FAULTS: list[tuple[str, str, dict[str, Any]]] = [
    ("clamp", "CLIP", {"minimum": 0.0}),
    ("clamp_least", "CLIP", {"maximum": 0.5}),
    ("conv", "CONV2D", {"explicit_padding": (1, 1, 0, 2)}),
    ("conv_stride", "CONV2D", {"stride_h": 1}),
    ("conv_stride", "CONV2D", {"kernel_h": 2, "kernel_w": 3}),
    ("conv_dilation", "CONV2D", {"dilation_w": 1}),
    ("conv_groups", "CONV2D", {"groups": 1}),
    ("conv_relu6", "CONV2D", {"activation": "TANH"}),
    ("conv_depthwise", "DWCONV2D", {"out_channels": 8}),
    ("conv_transposed_stride", "DECONV2D", {"explicit_padding": (0, 0, 0, 0)}),
    ("conv_transposed_depthwise", "DWDECONV2D", {"groups": 1}),
    ("linear", "FC", {"in_channels": 5}),
    ("avg_pool_no_pad", "AVGPOOL2D", {"count_include_pad": True}),
    ("max_pool_pad", "MAXPOOL2D", {"explicit_padding": (0, 0, 1, 0)}),
    ("max_pool_dilation", "MAXPOOL2D", {"dilation_h": 1}),
    ("mean", "REDUCEMEAN", {"axis": (1, 2)}),
    ("mean_keep", "REDUCEMEAN", {"keep_dims": False}),
    ("bilinear", "RESIZE_BILINEAR", {"align_corners": True}),
    ("bilinear", "RESIZE_BILINEAR", {"half_pixel_centers": False}),
    ("nearest", "RESIZE_NEAREST_NEIGHBOR", {"upsampling_factor": (2.0, 1.5)}),
    ("batch_norm", "BatchNormalization", {"epsilon": 0.1}),
    ("layer_norm", "LAYERNORM", {"epsilon": 0.1}),
    ("softmax", "SOFTMAX", {"axis": 1}),
    ("log_softmax", "LOGSOFTMAX", {"axis": 0}),
    ("cat", "CONCAT", {"axis": 2}),
    ("cat_constant", "CONCAT", {"constant_index": 0}),
    ("pad", "PAD", {"explicit_padding": (0, 0, 0, 3, 0, 0, 1, 2)}),
    ("permute", "TRANSPOSE", {"perm": (0, 3, 2, 1)}),
    ("flatten_products", "RESHAPE", {"new_shape": (144, 1)}),
    ("select", "STRIDEDSLICE", {"begin": (0, 0, 0, 0), "end": (1, 1, 8, 8)}),
    ("select_last", "STRIDEDSLICE", {"shrink_axis_mask": 1}),
    ("slice", "STRIDEDSLICE", {"strides": (1, 1, 1, 1)}),
    ("pixel_shuffle", "DEPTH_TO_SPACE", {"mode": "DCR"}),
    ("embedding", "GATHER", {"axis": 1}),
    ("to_half", "CAST", {"out_dtype": "FLOAT32"}),
]


def changed(graph: Graph, kind: str, change: Callable[[Operator], Operator]) -> Graph:
    assert any(each.type == kind for each in graph.operators)
    operators = (change(each) if each.type == kind else each for each in graph.operators)
    return replace(graph, operators=tuple(operators))


def noticed(name: str, mode: str, change: Callable[[Graph], Graph]) -> bool:
    (graph,), model, inputs = made(name, mode)
    assert difference(graph, model, inputs) == ""
    return bool(difference(change(graph), model, inputs))


def test_a_fault_in_a_parameter_is_noticed() -> None:
    missed = []
    for name, kind, given in FAULTS:
        change = lambda op, given=given: replace(op, parameters={**op.parameters, **given})  # noqa: E731
        case = name.removeprefix("flatten_")
        if not noticed(case, "float", lambda graph, k=kind, c=change: changed(graph, k, c)):
            missed.append((name, given))
    assert missed == []


def test_an_activation_that_is_missing_is_noticed() -> None:
    assert noticed(
        "conv_relu", "float", lambda graph: changed(graph, "CONV2D", _without_activation)
    )


def _without_activation(operator: Operator) -> Operator:
    rest = {key: value for key, value in operator.parameters.items() if key != "activation"}
    return replace(operator, parameters=rest)


def test_a_parameter_that_is_missing_or_unknown_is_noticed() -> None:
    (graph,), model, inputs = made("conv", "float")
    (operator,) = graph.operators
    for name in operator.parameters:
        rest = {key: value for key, value in operator.parameters.items() if key != name}
        cut = changed(graph, "CONV2D", lambda op, r=rest: replace(op, parameters=r))
        text = difference(cut, model, inputs)
        assert f"parameter {name}: expected a value, found none" in text
    more = {**operator.parameters, "alpha": 1}
    text = difference(
        changed(graph, "CONV2D", lambda op: replace(op, parameters=more)), model, inputs
    )
    assert text.endswith("found alpha")


@pytest.mark.parametrize("mode", ["float", "a8w8"])
def test_inputs_in_another_order_are_noticed(mode: str) -> None:
    swapped = lambda op: replace(op, inputs=(op.inputs[1], op.inputs[0], *op.inputs[2:]))  # noqa: E731
    cases = {"sub": "SUB", "div": "ELTDIV", "cat": "CONCAT", "bmm": "BATCH_MATMUL"}
    cases |= {"embedding": "GATHER", "prelu": "PRELU", "linear": "FC"}
    for name, kind in cases.items():
        assert noticed(name, mode, lambda graph, k=kind: changed(graph, k, swapped)), name


def _with_tensors(graph: Graph, change: Callable[[Tensor], Tensor]) -> Graph:
    return replace(graph, tensors=tuple(map(change, graph.tensors)))


@pytest.mark.parametrize("mode", ["float", "a8w8"])
def test_other_data_is_noticed(mode: str) -> None:
    def turned(tensor: Tensor) -> Tensor:
        return replace(tensor, data=None if tensor.data is None else tensor.data.flip(0))

    for name in ("conv", "linear", "add_constant", "embedding", "cat_constant", "conv_norm"):
        assert noticed(name, mode, lambda graph: _with_tensors(graph, turned)), name


def _moved(tensor: Tensor) -> Tensor:
    found = tensor.qparams
    if not found or not found.type:
        return tensor
    return replace(
        tensor, qparams=replace(found, zero_points=tuple(n // 2 - 1 for n in found.zero_points))
    )


def _wider(tensor: Tensor) -> Tensor:
    found = tensor.qparams
    if not found or len(found.scales) == 1:
        return tensor
    return replace(tensor, qparams=replace(found, scales=(found.scales[0],)))


def test_other_qparams_are_noticed() -> None:
    for name in ("add", "relu", "softmax", "conv", "max_pool"):
        assert noticed(name, "a8w8", lambda graph: _with_tensors(graph, _moved)), name
    for name in ("conv", "linear", "conv_depthwise"):
        assert noticed(name, "a8w8", lambda graph: _with_tensors(graph, _wider)), name

    def shared(graph: Graph) -> Graph:
        """The result of a move is said to be of other qparams."""
        last = graph.operators[-2].outputs[0]
        tensors = [
            replace(each, qparams=replace(each.qparams, scales=(each.qparams.scales[0] * 2,)))
            if place == last
            else each
            for place, each in enumerate(graph.tensors)
        ]
        return replace(graph, tensors=tuple(tensors))

    for name in ("transpose", "slice_end", "cat_last", "max_pool"):
        assert noticed(name, "a8w8", shared), name


def test_int8_and_floats_in_one_operator_are_noticed() -> None:
    def half(graph: Graph) -> Graph:
        """The first value stays float."""
        quantize, *rest = graph.operators
        rest = [
            replace(each, inputs=tuple(quantize.inputs[0] if n == quantize.outputs[0] else n for n in each.inputs))
            for each in rest
        ]  # fmt: skip
        return replace(graph, operators=tuple(rest))

    for name in ("add", "relu", "conv", "cat", "softmax"):
        assert noticed(name, "a8w8", half), name


def test_every_operator_is_in_a_graph_of_a_case() -> None:
    """So that the evaluator's rows are tried."""
    kinds = {kind for _, kind, _ in FAULTS}
    cases = "add sub mul div maximum minimum relu gelu hardswish hardsigmoid prelu sqrt rsqrt bmm".split()
    for name in cases:
        kinds |= {each.type for each in made(name, "float")[0][0].operators}
    kinds |= {each.type for each in made("add", "a8w8")[0][0].operators}
    assert kinds == set(OPERATORS)
