# SPDX-License-Identifier: BSD-3-Clause
"""Arguments as data, operators by name, dtypes that go together."""

from __future__ import annotations

import pytest
import torch
from torchgen.model import SchemaKind

from executorch.exir.dialects._ops import ops
from executorch.exir.dialects.edge._ops import AllowedDtypeSet, FunctionDtypeConstraint
from executorch.exir.dialects.edge.arg.model import ArgMode, InArg, InKwarg, OutArg, Return
from executorch.exir.dialects.edge.arg.type import ArgType
from executorch.exir.dialects.edge.dtype.supported import (
    regular_tensor_dtypes_to_str,
    regular_tensor_str_to_dtypes,
)
from executorch.exir.dialects.edge.dtype.utils import extract_return_dtype
from executorch.exir.dialects.edge.op.api import (
    get_callable,
    get_torch_op_overload,
    to_variant,
)

aten = torch.ops.aten


def test_kinds_of_arguments() -> None:
    optional = [kind.name for kind in ArgType if kind.is_optional()]
    assert optional == ["TensorOpt", "ScalarOpt", "ScalarTypeOpt"]
    assert [kind.name for kind in ArgType if not kind.has_dtype()] == ["Param"]
    assert ArgType("Tensor?[]").is_tensor_list() and ArgType.Tensor == "Tensor"


def test_values_are_made_for_a_dtype() -> None:
    assert torch.equal(InArg(ArgType.Tensor).get_val(), torch.ones(2, 2))
    sized = InArg(ArgType.Tensor, size=[2, 3], fill=4).get_val_with_dtype(torch.int32)
    assert torch.equal(sized, torch.full((2, 3), 4, dtype=torch.int32))
    given = InArg(ArgType.Tensor, value=[[1, 2]], dtype=torch.int64)
    assert given.get_val_with_dtype(torch.float32).dtype == torch.int64
    scalar = InArg(ArgType.Scalar, value=3).get_val_with_dtype(torch.float32)
    assert scalar == 3.0 and type(scalar) is float
    assert InArg(ArgType.ScalarType).get_val_with_dtype(torch.int8) is torch.int8
    assert InArg(ArgType.Param, value=0).get_val() == 0
    assert InArg(ArgType.TensorOpt).get_val() is None
    several = InArg(ArgType.TensorList, value=[InArg(ArgType.Tensor), InArg(ArgType.Tensor)])
    assert [t.dtype for t in several.get_val_with_dtype(torch.int16)] == [torch.int16] * 2


@pytest.mark.parametrize("dtype", [torch.float32, torch.int8, torch.uint8, torch.bool])
def test_random_values_keep_to_what_is_asked(dtype: torch.dtype) -> None:
    argument = InArg(ArgType.Tensor, size=[100], nonzero=True, nonneg=True)
    argument.mode = ArgMode.RANDOM
    value = argument.get_val_with_dtype(dtype)
    assert value.dtype == dtype and bool((value > 0).all())


def test_places_of_arguments() -> None:
    by_name, result = InKwarg(ArgType.ScalarOpt, "alpha", value=2), Return(ArgType.Tensor)
    assert (by_name.kw, by_name.out, by_name.argname) == (True, False, "alpha")
    out = result.to_out(name="out")
    assert isinstance(out, OutArg) and (out.kw, out.out, out.argname) == (True, True, "out")
    assert result.argname == "__ret" and result.is_expected(torch.zeros(2))
    with pytest.raises(NotImplementedError):
        result.is_expected(3)
    pair = (torch.ones(2), torch.ones(1, dtype=torch.int32))
    assert extract_return_dtype(pair, [result, result]) == [torch.float32, torch.int32]


def test_operators_by_name_and_variant() -> None:
    assert get_callable("add.Tensor") is aten.add.Tensor
    assert get_torch_op_overload("aten", "relu", None) is aten.relu.default
    with pytest.raises(ValueError, match="expected name.overload"):
        get_callable("relu")
    assert to_variant(aten.add.Tensor, SchemaKind.out) is aten.add.out
    assert to_variant(aten.add.out, SchemaKind.functional) is aten.add.Tensor
    assert to_variant(aten.mm.default, SchemaKind.functional) is aten.mm.default
    with pytest.raises(AssertionError, match="Only support out variant and functional variant"):
        to_variant(aten.mm.default, SchemaKind.inplace)
    with pytest.raises(RuntimeError):
        to_variant(aten.sym_size.int, SchemaKind.out)


def test_dtypes_that_go_together() -> None:
    types = {"T0": {torch.float32, torch.float64}, "T1": {torch.int64}}
    rows = [{"self": "T0", "other": "T1", "__ret_0": "T0"}]
    rule = FunctionDtypeConstraint(["self", "__ret_0"], ["other"], types, rows)
    f32, f64, i64 = torch.float32, torch.float64, torch.int64
    assert rule.validate({"self": f32, "__ret_0": f32})
    assert rule.validate({"self": f64, "other": i64, "__ret_0": f64})
    assert rule.validate({"self": f64, "other": None, "__ret_0": f64})
    assert not rule.validate({"self": f32, "__ret_0": f64})
    assert not rule.validate({"self": f32, "other": f32, "__ret_0": f32})
    assert rule["self"] == {f32, f64} and rule["none"] == set()
    assert "other" in rule and "none" not in rule
    allowed = AllowedDtypeSet({f32, torch.int8})
    assert f32 in allowed and allowed.reduce_to(f32)
    assert torch.int8 not in allowed and not allowed.reduce_to(torch.int8)


def test_schemas_of_edge_operators_say_which() -> None:
    schema = ops.edge.aten.mm.default._schema
    assert isinstance(schema.dtype_constraint, FunctionDtypeConstraint)
    assert schema.dtype_constraint.essential_tensor_io_names == ["self", "mat2", "__ret_0"]
    assert torch.float32 in schema.arguments[0].allowed_types
    assert regular_tensor_str_to_dtypes["Half"] is torch.float16
    assert len(regular_tensor_dtypes_to_str) == 13


def test_every_edge_operator_has_a_constraint() -> None:
    """Half types where floats are, lists as one name, optional tensors, operators that the table does not have."""
    f32, f16, i32 = torch.float32, torch.float16, torch.int32
    softmax = ops.edge.aten._log_softmax.default._schema
    assert softmax.arguments[0].allowed_types == {f32, torch.float64}  # as documents print it
    assert softmax.dtype_constraint.validate({"self": f16, "__ret_0": f16})
    assert softmax.arguments[1].allowed_types is None
    cat = ops.edge.aten.cat.default._schema.dtype_constraint
    assert cat.validate({"tensors": f32, "__ret_0": f32})
    norm = ops.edge.aten.native_layer_norm.default._schema.dtype_constraint
    results = {f"__ret_{place}": f32 for place in range(3)}
    assert norm.validate({"input": f32, **results})
    assert norm.validate({"input": f32, "weight": f32, "bias": f32, **results})
    for wrong in ({"weight": f32}, {"nope": f32}, {"input": f32, "nope": f32, **results}, results,
                  {"input": i32, **results}):  # fmt: skip
        assert not norm.validate(wrong)
    table = ops.edge.quantized_decomposed.dequantize_per_tensor.default._schema
    assert torch.complex64 in table.arguments[0].allowed_types
    assert table.dtype_constraint.validate({"input": torch.int8, "__ret_0": f32})
    assert not table.dtype_constraint.validate({"input": torch.int8})
