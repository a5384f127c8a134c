# SPDX-License-Identifier: BSD-3-Clause
"""Tensor specs, dim orders, symbolic bounds, out variants: the small parts passes are made of."""

from __future__ import annotations

import pytest
import torch
from torch.export import Dim, export

from executorch.exir import memory
from executorch.exir.dim_order_utils import (
    get_dim_order,
    get_memory_format,
    is_channel_last_dim_order,
    is_contiguous_dim_order,
)
from executorch.exir.error import ExportError, ExportErrorType, InternalError
from executorch.exir.operator.convert import (
    NoOutVariant,
    get_out_args_from_opoverload,
    is_out_variant,
    to_out_variant,
)
from executorch.exir.scalar_type import ScalarType
from executorch.exir.schema import AllocationDetails, TensorShapeDynamism
from executorch.exir.sym_util import eval_expr, eval_shape, eval_shape_upper_bound, eval_upper_bound
from executorch.exir.tensor import (
    AddressSpaceOverflowException,
    TensorSpec,
    calculate_aligned_num_bytes,
    check_spec,
    contiguous_stride_from_shape,
    dim_order_from_stride,
    get_scalar_type,
    make_allocation_info,
    make_tensor_value,
    num_bytes_from_shape_and_dtype,
    scalar_type_enum,
    stride_from_dim_order,
)
from executorch.exir.tracer import dispatch_trace, unwrap_proxy
from executorch.exir.wrap import is_functionaltensor, update_with_proxy

aten = torch.ops.aten


@pytest.mark.parametrize(
    ("stride", "order"),
    [
        ((), ()),
        ((1,), (0,)),
        ((12, 4, 1), (0, 1, 2)),
        ((20, 1, 5), (0, 2, 1)),
        ((1, 1), (0, 1)),
        ((60, 1, 15, 3), (0, 2, 3, 1)),
    ],
)
def test_dim_order_from_stride(stride: tuple[int, ...], order: tuple[int, ...]) -> None:
    assert dim_order_from_stride(stride) == order


def test_expanded_tensors_have_no_dim_order() -> None:
    with pytest.raises(RuntimeError, match="0 in strides is not supported: dimension 1"):
        dim_order_from_stride((4, 0))


@pytest.mark.parametrize("permutation", [(0, 1, 2), (0, 2, 1), (2, 0, 1), (1, 2, 0)])
def test_strides_and_dim_orders_are_inverse(permutation: tuple[int, ...]) -> None:
    sizes = [2, 3, 5]
    strides = stride_from_dim_order(sizes, list(permutation))
    assert dim_order_from_stride(strides) == permutation


def test_sizes_in_bytes() -> None:
    assert num_bytes_from_shape_and_dtype([2, 3], torch.float16) == 12
    assert num_bytes_from_shape_and_dtype([], torch.int64) == 8
    assert [calculate_aligned_num_bytes(n, 16) for n in (0, 1, 16, 17)] == [0, 16, 16, 32]
    assert contiguous_stride_from_shape([2, 3, 4]) == (12, 4, 1)
    assert contiguous_stride_from_shape([2, 0, 3]) == (3, 3, 1)


def test_spec_of_a_tensor() -> None:
    tensor = torch.zeros(2, 3, 4, 5).to(memory_format=torch.channels_last)
    spec = TensorSpec.from_tensor(tensor)
    assert (spec.dtype, spec.shape, spec.dim_order) == (torch.float32, [2, 3, 4, 5], (0, 2, 3, 1))
    assert spec.nbytes() == 480 and spec.allocated_memory == 480
    assert spec.realign(1024) == 1024
    assert spec.is_static_shape_tensor and not spec.is_dynamic_shape_tensor
    assert (spec.mem_id, spec.mem_offset, spec.lifetime) == (None, None, [None, None])
    assert "allocated_memory=1024" in spec.debug()
    check_spec(tensor, spec)
    with pytest.raises(InternalError, match="spec says"):
        check_spec(tensor.int(), spec)
    constant = TensorSpec.from_tensor(tensor, const=True)
    assert constant.storage is not None and constant.storage.data_ptr() == tensor.data_ptr()


def test_dtypes_map_to_the_file_numbers_and_back() -> None:
    assert scalar_type_enum(torch.bfloat16) == ScalarType.BFLOAT16 == 15
    for name in ("uint8", "int64", "float32", "bool", "uint16", "float8_e5m2"):
        dtype = getattr(torch, name)
        assert get_scalar_type(scalar_type_enum(dtype)) == dtype
    with pytest.raises(ExportError, match="torch.bits8 has no number") as error:
        scalar_type_enum(torch.bits8)
    assert error.value.error_code == ExportErrorType.NOT_SUPPORTED
    assert isinstance(error.value, KeyError) and "has no number" in str(error.value)


def test_places_are_not_negative() -> None:
    with pytest.raises(ValueError, match="must not be negative"):
        make_allocation_info(-1, 0)
    with pytest.raises(AddressSpaceOverflowException):
        make_allocation_info(1, 1 << 64)


def test_a_spec_says_what_it_is() -> None:
    assert repr(TensorSpec.from_tensor(torch.ones(2, 3))) == (
        "TensorSpec(dtype=torch.float32, shape=[2, 3], layout=torch.strided, is_sparse=False, shape_dynamism=0, "
        "const=False, requires_grad=False, device=CPU:0)"
    )


def test_offsets_are_split_in_two_words() -> None:
    assert make_allocation_info(1, (3 << 32) + 7) == AllocationDetails(1, 7, 3)
    with pytest.raises(AddressSpaceOverflowException):
        make_allocation_info(1, 1 << 64)
    with pytest.raises(ValueError):
        make_allocation_info(1, -1)


def test_value_of_a_spec() -> None:
    value = make_tensor_value(3, None, TensorSpec(torch.int8, [2, 5]))
    assert (value.scalar_type, value.sizes, value.dim_order) == (ScalarType.CHAR, [2, 5], [0, 1])
    assert value.data_buffer_idx == 3 and value.shape_dynamism == TensorShapeDynamism.STATIC


def test_memory_formats_as_dim_orders() -> None:
    assert get_dim_order(torch.channels_last, 4) == [0, 2, 3, 1]
    assert get_dim_order(torch.contiguous_format, 2) == [0, 1]
    assert get_dim_order(None, 3) is None
    assert get_memory_format([0, 2, 3, 1]) == torch.channels_last
    assert get_memory_format([0, 1, 2]) == torch.contiguous_format
    assert get_memory_format(None) == torch.preserve_format
    with pytest.raises(ValueError, match="neither contiguous nor channels last"):
        get_memory_format([1, 0])
    with pytest.raises(ValueError, match="does not fit"):
        get_dim_order(torch.channels_last, 3)
    tensor = torch.zeros(2, 3, 4, 5)
    assert is_contiguous_dim_order(tensor)
    assert is_channel_last_dim_order(tensor.to(memory_format=torch.channels_last))


def test_bounds_of_symbolic_sizes() -> None:
    class Rows(torch.nn.Module):
        def forward(self, x: torch.Tensor) -> torch.Tensor:
            return torch.cat([x, x]).reshape(-1)

    program = export(Rows(), (torch.ones(3, 4),), dynamic_shapes=({0: Dim("n", max=10)},))
    result = next(iter(reversed(program.graph.nodes))).args[0][0].meta["val"]
    assert eval_shape(result.shape) == [24]
    assert eval_shape_upper_bound(result.shape) == [80]
    assert eval_expr(7) == 7 and eval_upper_bound(7) == 7
    free = export(Rows(), (torch.ones(3, 4),), dynamic_shapes=({0: Dim("m")},))
    size = next(n for n in free.graph.nodes if n.name == "x").meta["val"].shape[0]
    with pytest.raises(ExportError, match="no upper bound"):
        eval_upper_bound(size)


def test_memory_functions_run_eagerly() -> None:
    assert memory.alloc(((2, 3), torch.int32)).shape == (2, 3)
    assert [t.dtype for t in memory.alloc([((1,), torch.bool), ((), torch.int8)])] == [
        torch.bool,
        torch.int8,
    ]
    base = torch.arange(6)
    assert memory.view(base, [2, 3]).data_ptr() == base.data_ptr()
    with pytest.raises(ValueError, match="6 elements"):
        memory.view(base, [4, 2])


@pytest.mark.parametrize(
    ("functional", "out", "names"),
    [
        (aten.add.Tensor, aten.add.out, ["out"]),
        (aten.max.dim, aten.max.dim_max, ["max", "max_values"]),
        (aten.split_with_sizes_copy.default, aten.split_with_sizes_copy.out, ["out"]),
        (aten.arange.start_step, aten.arange.start_out, ["out"]),
        (aten._to_copy.default, aten._to_copy.out, ["out"]),
        (aten.native_layer_norm.default, aten.native_layer_norm.out, ["out0", "out1", "out2"]),
        (aten.sum.dim_IntList, aten.sum.IntList_out, ["out"]),
        (aten.full_like.default, aten.full_like.out, ["out"]),
        (
            torch.ops.dim_order_ops._clone_dim_order.default,
            torch.ops.dim_order_ops._clone_dim_order.out,
            ["out"],
        ),
    ],
)
def test_out_variants(
    functional: torch._ops.OpOverload, out: torch._ops.OpOverload, names: list[str]
) -> None:
    assert to_out_variant(functional) == (out, tuple(names))
    for op, writes in ((out, True), (functional, False)):
        assert is_out_variant(op._schema.name, op._schema.overload_name) == writes
    assert get_out_args_from_opoverload(out) == tuple(names)
    assert to_out_variant(out) == (out, tuple(names))


def test_operator_without_out_variant() -> None:
    with pytest.raises(NoOutVariant):
        to_out_variant(aten.dropout.default)


def test_a_value_stands_for_the_node_that_it_is_told() -> None:
    def body(x: torch.Tensor) -> torch.Tensor:
        added, doubled = x + 1, x * 2
        assert update_with_proxy(added, unwrap_proxy(doubled)) is added
        return added - 3

    x = torch.arange(3.0)
    graph = dispatch_trace(body, (x,))
    torch.testing.assert_close(graph(x), [x * 2 - 3])
    with pytest.raises(TypeError, match="found a Tensor"):
        update_with_proxy(x, None)


def test_functional_tensors_are_known() -> None:
    x = torch.ones(2)
    assert not is_functionaltensor(x)
    seen = []
    torch.func.functionalize(lambda y: seen.append(is_functionaltensor(y)) or y)(x)
    assert seen == [True]
