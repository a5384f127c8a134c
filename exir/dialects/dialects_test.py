# SPDX-License-Identifier: BSD-3-Clause
"""Operators of the dialects by name, and the dtype constraints of the edge dialect."""

from __future__ import annotations

import copy
import pickle

import pytest
import torch

from executorch.exir.dialects._ops import _DialectNamespace
from executorch.exir.dialects._ops import ops as exir_ops
from executorch.exir.dialects.backend._ops import BackendOpOverload, BackendOpOverloadPacket
from executorch.exir.dialects.edge import edge_yaml_generator as generator
from executorch.exir.dialects.edge._constraints import constraints_of
from executorch.exir.dialects.edge._ops import (
    EdgeDialectFunctionSchema,
    EdgeOpOverload,
    EdgeOpOverloadPacket,
)


@pytest.mark.req("CMP-018", "CMP-019")
def test_allowed_types_of_sigmoid() -> None:
    sigmoid = exir_ops.edge.aten.sigmoid.default
    assert str(sigmoid._schema) == "aten::sigmoid(Tensor self) -> Tensor"
    integers = {torch.int8, torch.int16, torch.int32, torch.int64, torch.uint8, torch.bool}
    floats = {torch.float32, torch.float64}
    assert sigmoid._schema.arguments[0].allowed_types == integers | floats
    assert sigmoid._schema.returns[0].allowed_types == floats


@pytest.mark.req("CMP-018")
def test_constraints_bind_equal_aliases() -> None:
    matmul = constraints_of(torch.ops.aten.mm.default._schema)
    assert matmul is not None
    f32, f64 = torch.float32, torch.float64
    assert matmul.accepts({"self": f32, "mat2": f32, "__ret_0": f32})
    assert not matmul.accepts({"self": f32, "mat2": f64})
    assert not matmul.accepts({"self": torch.bool, "mat2": torch.bool})
    add = constraints_of(torch.ops.aten.add.Tensor._schema)
    assert add is not None
    assert add.accepts({"self": torch.int32, "other": f32, "__ret_0": f32})
    assert not add.accepts({"self": torch.int32, "other": f32, "__ret_0": torch.int32})


@pytest.mark.req("CMP-018")
@pytest.mark.parametrize("name", ["sigmoid.default", "add.Tensor", "where.self", "mean.dim"])
def test_yaml_says_what_torch_computes(name: str) -> None:
    """Every combination of the table is accepted if and only if torch computes it so."""
    packet, overload = name.split(".")
    op = getattr(getattr(torch.ops.aten, packet), overload)
    count, arguments = generator.operators()[op]
    names = generator.tensor_names(op, count)
    good = set(generator.combinations_of(op, count, arguments))
    constraints = constraints_of(op._schema)
    assert constraints is not None and good
    for combination in generator.itertools.product(generator.DTYPES, repeat=len(names)):
        dtypes = {n: generator.DTYPES[d] for n, d in zip(names, combination)}
        assert constraints.accepts(dtypes) == (combination in good), combination


@pytest.mark.req("CMP-017", "CMP-019")
def test_operators_are_one_object_each_and_survive_copies() -> None:
    add = exir_ops.edge.aten.add.Tensor
    assert add is exir_ops.edge.aten.add.Tensor and isinstance(add, EdgeOpOverload)
    assert copy.deepcopy(add) is add
    assert pickle.loads(pickle.dumps(add)) is add
    assert add(torch.ones(2), torch.ones(2)).tolist() == [2, 2]
    assert add.to_out_variant() is torch.ops.aten.add.out
    assert exir_ops.edge.aten.conv2d.default._schema.arguments[3].allowed_types is None
    backend = exir_ops.backend.executorch_prim.add.Scalar
    assert isinstance(backend, BackendOpOverload)
    assert pickle.loads(pickle.dumps(backend)) is backend
    assert exir_ops.aten.add.Tensor is torch.ops.aten.add.Tensor
    with pytest.raises(AttributeError):
        _ = exir_ops.edge.aten.no_such_operator


@pytest.mark.req("CMP-017")
def test_operators_are_made_of_torchs() -> None:
    torch_op = torch.ops.aten.add.Tensor
    schema = EdgeDialectFunctionSchema(torch_op._schema)
    assert torch.float32 in schema.arguments[0].allowed_types
    assert EdgeOpOverload(torch_op, schema)._schema is schema
    packet = EdgeOpOverloadPacket("aten::add", "add", torch.ops.aten.add)
    assert packet.Tensor is exir_ops.edge.aten.add.Tensor
    assert repr(packet) == "<EdgeOpOverloadPacket: aten::add>"
    packet = BackendOpOverloadPacket("aten::add", "add", torch.ops.aten.add)
    assert isinstance(packet, EdgeOpOverloadPacket)
    assert packet.Tensor is exir_ops.backend.aten.add.Tensor
    assert _DialectNamespace("backend").aten.add.Tensor is packet.Tensor


def test_operators_whose_names_begin_with_underscores() -> None:
    """They are there; what Python asks objects by such names is still answered by Python."""
    shift = exir_ops.edge.aten.__rshift__.Scalar
    assert isinstance(shift, EdgeOpOverload) and shift._op is torch.ops.aten.__rshift__.Scalar
    assert shift(torch.tensor([8, 5]), 1).tolist() == [4, 2]
    assert exir_ops.edge.aten._softmax.default._op is torch.ops.aten._softmax.default
    assert pickle.loads(pickle.dumps(shift)) is shift and copy.deepcopy(shift) is shift
    space = exir_ops.edge.aten
    for protocol in ("__deepcopy__", "__getitem__", "__contains__", "__setstate__", "__wrapped__"):
        assert not hasattr(space, protocol)
    assert copy.deepcopy(space).__rshift__.Scalar is shift
    assert copy.copy(exir_ops.edge).aten.add.Tensor is exir_ops.edge.aten.add.Tensor
