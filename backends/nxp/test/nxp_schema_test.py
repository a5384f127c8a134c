# SPDX-License-Identifier: BSD-3-Clause
"""Our schema of TFLite models has the numbers of LiteRT's: names, ids and fields of what it writes arrive there."""

from __future__ import annotations

import re
from dataclasses import fields
from typing import Any

import pytest
import torch

from executorch.backends.nxp.aot.graph import SCHEMA, Graph, Operator, QParams, Tensor
from executorch.backends.nxp.test import stand_in

pytestmark = pytest.mark.skipif(bool(stand_in.why_missing()), reason=stand_in.why_missing())
ENUMS = ("TensorType", "Padding", "ActivationFunctionType", "BuiltinOperator")
OPTIONS = sorted(name for name in SCHEMA.classes if name.endswith("Options"))


def theirs() -> Any:
    from ai_edge_litert import schema_py_generated

    return schema_py_generated


@pytest.mark.parametrize("name", ENUMS)
def test_enums_have_litert_numbers(name: str) -> None:
    kind = getattr(theirs(), name)
    assert {each.name: int(each) for each in SCHEMA.classes[name]} == {
        each.name: getattr(kind, each.name) for each in SCHEMA.classes[name]
    }


def _camel(name: str) -> str:
    return re.sub(r"_(\w)", lambda found: found[1].upper(), name)


def _sample(options: type, name: str) -> Any:
    """A value that is no field's default."""
    enums = {"padding": "Padding", "fused_activation_function": "ActivationFunctionType"}
    if name in enums:
        return list(SCHEMA.classes[enums[name]])[1]
    if name == "new_shape":
        return [2, 3]
    return (
        3 if name.endswith(("_w", "_h", "factor", "multiplier", "width", "height", "axis")) else 1
    )


@pytest.mark.parametrize("name", OPTIONS)
def test_options_arrive(name: str) -> None:
    kind = SCHEMA.classes[name]
    given = {each.name: _sample(kind, each.name) for each in fields(kind)}
    operator = Operator("CUSTOM", (0,), (1,), SCHEMA.make(name, **given))
    tensors = (Tensor("x", (2,)), Tensor("y", (2,)))
    model = theirs().ModelT.InitFromObj(
        theirs().Model.GetRootAs(Graph(tensors, (operator,), (0,), (1,)).pack())
    )
    (found,) = model.subgraphs[0].operators
    assert type(found.builtinOptions).__name__ == f"{name}T"
    assert found.builtinOptionsType == getattr(theirs().BuiltinOptions, name)
    for field, value in given.items():
        read = getattr(found.builtinOptions, _camel(field))
        assert (list(read) if field == "new_shape" else read) == value, field


def test_tensors_and_operators_arrive() -> None:
    qparams = QParams((0.5, 0.25), (1, -2), 1)
    data = torch.arange(6, dtype=torch.int8).reshape(3, 2)
    tensors = (
        Tensor("unread", (9,)),
        Tensor("x", (3, 2), qparams=QParams((0.1,), (3,))),
        Tensor("w", (3, 2), qparams=qparams, data=data),
        Tensor("y", (3, 2)),
    )
    graph = Graph(
        tensors, (Operator("RELU_0_TO_1", (1, 2), (3,)), Operator("ADD", (1, 3), (3,))), (1,), (3,)
    )
    model = theirs().ModelT.InitFromObj(theirs().Model.GetRootAs(graph.pack()))
    (made,) = model.subgraphs
    assert (model.version, model.description) == (3, b"TFLite from EdgeProgram")
    assert [each.name for each in made.tensors] == [b"x", b"w", b"y"]
    weight = made.tensors[1]
    assert (
        weight.quantization.scale.tolist() == [0.5, 0.25]
        and weight.quantization.quantizedDimension == 1
    )
    assert weight.quantization.zeroPoint.tolist() == [1, -2] and list(weight.shape) == [3, 2]
    assert (
        bytes(model.buffers[weight.buffer].data) == bytes(range(6)) and made.tensors[0].buffer == 0
    )
    codes = [(each.builtinCode, each.deprecatedBuiltinCode) for each in model.operatorCodes]
    assert codes == [(152, 127), (0, 0)]
    assert [list(each.inputs) for each in made.operators] == [[0, 1], [0, 2]]
