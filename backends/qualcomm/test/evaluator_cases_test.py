# SPDX-License-Identifier: BSD-3-Clause
"""Graphs as the rows write them, run by the evaluator, beside eager: every case of graph_cases.py. Two people's reading
of QNN's definitions meet here; a fault of one of them is a difference."""

from __future__ import annotations

import pytest
import torch

from executorch.backends.qualcomm.quantizer.quantizer import QuantDtype
from executorch.backends.qualcomm.reference.errors import InvalidGraph
from executorch.backends.qualcomm.test import evaluated
from executorch.backends.qualcomm.test.graph_cases import FAMILIES, Case
from executorch.backends.qualcomm.test.recorder import Recorder, lowered, quantized

# Of numbers above 0 only.
POSITIVE = {"log", "rsqrt", "sqrt", "pow"}


def inputs_of(case: Case) -> tuple[torch.Tensor, ...]:
    """On both sides of 0, so that padding with it and signs tell."""
    shift = 0.0 if case.name in POSITIVE else 0.4
    return tuple(x - shift if x.is_floating_point() else x for x in case.inputs())


def difference(case: Case, dtype: QuantDtype | None) -> str:
    """Empty where the evaluator agrees; in integers, with the quantized program of PyTorch, but for one step where that
    rounded in float32."""
    model, inputs, door = case.model(), inputs_of(case), Recorder()
    if dtype is not None:
        model = quantized(model, inputs, dtype)
    program = lowered(model, inputs, door).exported_program()
    wanted = model(*inputs)
    wanted = [wanted] if isinstance(wanted, torch.Tensor) else list(wanted)
    try:
        found = evaluated.run(program, door, inputs)
    except InvalidGraph as error:
        return str(error)
    scales = [
        scale
        for graph in door.graphs
        for tensor in graph.of(graph.operators[-1].inputs)
        if dtype is not None and tensor.encoding is not None
        for scale in tensor.encoding.scales
    ]
    step = max(scales, default=0.0)
    for want, got in zip(wanted, found, strict=True):
        if want.shape != got.shape:
            return f"sizes {tuple(want.shape)} and {tuple(got.shape)}"
        if not torch.allclose(want.double(), got.double(), 1e-5, 1e-5 + 1.001 * step, True):
            return f"by {(want.double() - got.double()).abs().max():g}, a step is {step:g}"
    return ""


@pytest.mark.parametrize("dtype", [None, QuantDtype.use_8a8w, QuantDtype.use_16a4w])
@pytest.mark.parametrize("family", FAMILIES)
def test_the_evaluator_agrees(family: str, dtype: QuantDtype | None) -> None:
    found = {case.name: difference(case, dtype) for case in FAMILIES[family]}
    assert {name: each for name, each in found.items() if each} == {}
