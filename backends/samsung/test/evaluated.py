# SPDX-License-Identifier: BSD-3-Clause
"""Graphs of models that are one delegate, and what the evaluator computes of them beside eager PyTorch."""

from __future__ import annotations

import functools
from collections.abc import Sequence

import torch
from torch import Tensor, nn

from executorch.backends.samsung.aot.graph import Graph
from executorch.backends.samsung.test.graph_cases import FAMILIES
from executorch.backends.samsung.test.reference.evaluator import evaluate, is_quantized
from executorch.backends.samsung.test.stand_in import graphs_of
from executorch.backends.samsung.utils.export_utils import quantize_module
from executorch.backends.test.graph_run import InvalidGraph

CASES = {case.name: case for cases in FAMILIES.values() for case in cases}


@functools.cache
def made(name: str, mode: str) -> tuple[list[Graph], nn.Module, tuple[Tensor, ...]]:
    """Of a case: the graphs of its delegates, the model and its inputs, in floats or quantized to int8."""
    model, inputs = CASES[name].model(), CASES[name].inputs()
    if mode == "a8w8":
        model = quantize_module(model, inputs, [inputs], "A8W8")
    graphs, _ = graphs_of(model, *inputs)
    return graphs, model, inputs


def difference(graph: Graph, model: nn.Module, inputs: Sequence[Tensor]) -> str:
    """Empty where they agree: int8 but for one of the steps that leave as floats."""
    wanted = model(*inputs)
    wanted = [wanted] if isinstance(wanted, Tensor) else list(wanted)
    try:
        found = evaluate(graph, inputs)
    except InvalidGraph as error:
        return str(error)
    for want, got in zip(wanted, found, strict=True):
        if (want.shape, want.dtype) != (got.shape, got.dtype):
            return f"{got.dtype}{list(got.shape)}, eager has {want.dtype}{list(want.shape)}"
        want, got = want.double(), got.double()
        if not torch.allclose(got, want, 1e-5, 1e-5 + 1.001 * _step(graph), equal_nan=True):
            return f"off by {(got - want).abs().max():g}, a step is {_step(graph):g}"
    return ""


def _step(graph: Graph) -> float:
    read = [graph.tensors[each.inputs[0]] for each in graph.operators if each.type == "DEQUANTIZE"]
    return max((each.qparams.scales[0] for each in read if is_quantized(each)), default=0.0)
