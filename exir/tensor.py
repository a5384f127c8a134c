# SPDX-License-Identifier: BSD-3-Clause
"""`TensorSpec`: what the compiler knows about one tensor of a program (type, sizes, layout, place in memory),
and the conversions between torch's vocabulary and the file's."""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import replace
from functools import cmp_to_key
from itertools import pairwise

import sympy
import torch
from torch.fx.experimental.symbolic_shapes import has_free_unbacked_symbols

from executorch.exir import schema
from executorch.exir.error import ExportError, ExportErrorType, internal_assert
from executorch.exir.scalar_type import ScalarType
from executorch.exir.schema import DeviceType, ExtraTensorInfo, TensorShapeDynamism

ALIGNMENT = 16

_DTYPES: dict[ScalarType, torch.dtype] = {
    kind: getattr(torch, kind.dtype_name) for kind in ScalarType
}
_SCALAR_TYPES = {dtype: kind for kind, dtype in _DTYPES.items()}
scalar_type_table = _SCALAR_TYPES
enum_to_scalar_map = _DTYPES
_LAYOUTS: dict[torch.layout, int] = {torch.strided: 0, torch.sparse_coo: 1}
_MEMORY_FORMATS: dict[torch.memory_format, int] = {
    torch.contiguous_format: 0,
    torch.preserve_format: 1,
    torch.channels_last: 2,
    torch.channels_last_3d: 3,
}


class AddressSpaceOverflowException(Exception):
    """An offset or a size does not fit the file's 64 bits."""


def num_bytes_from_shape_and_dtype(shape: Sequence[int], dtype: torch.dtype) -> int:
    return math.prod(shape) * dtype.itemsize


def contiguous_stride_from_shape(shape: Sequence[int]) -> tuple[int, ...]:
    strides = []
    step = 1
    for size in reversed(shape):
        strides.append(step)
        step = step * _at_least_one(size)
    return tuple(reversed(strides))


def _at_least_one(size: int | torch.SymInt) -> int | torch.SymInt:
    """Empty dimensions do not make strides 0. A symbolic size is not asked."""
    return 1 if type(size) is int and size == 0 else size


def dim_order_from_stride(stride: Sequence[int]) -> tuple[int, ...]:
    """Dimensions from outermost to innermost; equal strides keep their order. Stride 0 has no dim order. Of sizes that
    depend on data, products are further out than their factors."""
    for dim, step in enumerate(stride):
        if not _depends_on_data(step) and step == 0:
            raise RuntimeError(
                f"0 in strides is not supported: dimension {dim} has stride 0, an expanded tensor has no dim order; "
                "clone it first"
            )
    if _descends(stride):
        return tuple(range(len(stride)))
    if any(_depends_on_data(step) for step in stride):
        further_out = cmp_to_key(lambda one, other: _compare(stride[one], stride[other]))
        return tuple(sorted(range(len(stride)), key=further_out))
    return tuple(sorted(range(len(stride)), key=lambda dim: -stride[dim]))


def _depends_on_data(step: int | torch.SymInt) -> bool:
    return isinstance(step, torch.SymInt) and has_free_unbacked_symbols(step)


def _compare(one: int | torch.SymInt, other: int | torch.SymInt) -> int:
    """-1 where `one` is the further out; raises torch's guard error where nobody can know."""
    expr, expr_of_other = (getattr(getattr(x, "node", None), "expr", x) for x in (one, other))
    if expr == expr_of_other:
        return 0
    for larger, smaller, result in ((expr, expr_of_other, -1), (expr_of_other, expr, 1)):
        factor = sympy.sympify(larger) / smaller
        if factor.is_integer and factor.as_numer_denom()[1] == 1:
            return result
    return -1 if one > other else 1


def _descends(stride: Sequence[int]) -> bool:
    return all(isinstance(step, int) for step in stride) and all(
        a >= b for a, b in pairwise(stride)
    )


def stride_from_dim_order(sizes: Sequence[int], dim_order: Sequence[int]) -> list[int]:
    strides = [1] * len(sizes)
    step = 1
    for dim in reversed(dim_order):
        strides[dim] = step
        step = step * _at_least_one(sizes[dim])
    return strides


def calculate_aligned_num_bytes(num: int, alignment: int) -> int:
    return -(-num // alignment) * alignment


def determine_tensor_dynanism(
    shape: Sequence[int | torch.SymInt],
) -> TensorShapeDynamism:
    """STATIC when every size is a number, DYNAMIC_BOUND otherwise (sizes without upper bound are refused later,
    all in one message)."""
    if all(isinstance(size, int) for size in shape):
        return TensorShapeDynamism.STATIC
    return TensorShapeDynamism.DYNAMIC_BOUND


class TensorSpec:
    """One tensor of a program; lives in `node.meta["spec"]`.

    `shape` holds numbers once the shapes were evaluated (upper bounds for DYNAMIC_BOUND), symbolic sizes before.
    Memory planning fills `lifetime` (first and last node index), `mem_id`, `mem_obj_id` and `mem_offset`.
    Identity is the object: two nodes with the same spec share one tensor.
    """

    def __init__(
        self,
        dtype: torch.dtype,
        shape: Sequence[int],
        layout: torch.layout = torch.strided,
        is_sparse: bool = False,
        const: bool = False,
        requires_grad: bool = False,
        extra_tensor_info: ExtraTensorInfo | None = None,
    ) -> None:
        self.scalar_type = dtype
        self.const = const
        self.alignment = ALIGNMENT
        self.storage: torch.UntypedStorage | None = None
        self.shape = list(shape)
        self.stride: tuple[int, ...] = contiguous_stride_from_shape(self.shape)
        self.dim_order: tuple[int, ...] = tuple(range(len(self.shape)))
        self.requires_grad = requires_grad
        self.layout = layout
        self.is_sparse = is_sparse
        self.shape_dynamism = determine_tensor_dynanism(self.shape)
        self.extra_tensor_info = extra_tensor_info
        self.device = DeviceType.CPU
        self.device_index = 0
        self.inplace_base: TensorSpec | None = None
        self.init_mem_planning_fields()

    def init_mem_planning_fields(self) -> None:
        self.lifetime: list[int | None] = [None, None]
        self.mem_id: int | None = None
        self.mem_obj_id: int | None = None
        self.mem_offset: int | None = None

    @classmethod
    def from_tensor(cls, tensor: torch.Tensor, const: bool = False) -> TensorSpec:
        """Describes `tensor`; a constant also keeps its storage (not a copy)."""
        spec = cls(
            dtype=tensor.dtype,
            shape=tensor.shape,
            layout=tensor.layout,
            is_sparse=tensor.is_sparse,
            const=const,
            requires_grad=tensor.requires_grad,
        )
        if tensor.layout == torch.strided:
            spec.stride = tuple(tensor.stride())
            spec.dim_order = dim_order_of(tensor)
        if const:
            spec.storage = tensor.untyped_storage()
        return spec

    @property
    def dtype(self) -> torch.dtype:
        return self.scalar_type

    def nbytes(self) -> int:
        return num_bytes_from_shape_and_dtype(self.shape, self.scalar_type)

    @property
    def allocated_memory(self) -> int:
        return calculate_aligned_num_bytes(self.nbytes(), self.alignment)

    def realign(self, new_alignment: int) -> int:
        self.alignment = new_alignment
        return self.allocated_memory

    @property
    def is_static_shape_tensor(self) -> bool:
        return self.shape_dynamism == TensorShapeDynamism.STATIC

    @property
    def is_upper_bound_tensor(self) -> bool:
        return self.shape_dynamism == TensorShapeDynamism.DYNAMIC_BOUND

    @property
    def is_dynamic_unbound_tensor(self) -> bool:
        return self.shape_dynamism == TensorShapeDynamism.DYNAMIC_UNBOUND

    @property
    def is_dynamic_shape_tensor(self) -> bool:
        return not self.is_static_shape_tensor

    def debug(self) -> str:
        memory = f"mem_id={self.mem_id}, mem_offset={self.mem_offset}, lifetime={self.lifetime}"
        return (
            f"TensorSpec(id={id(self)}, const={self.const}, scalar_type={self.scalar_type}, "
            f"allocated_memory={self.allocated_memory}, {memory}, shape_dynamism={self.shape_dynamism}, "
            f"shape={self.shape})"
        )

    def __repr__(self) -> str:
        return (
            f"TensorSpec(dtype={self.scalar_type}, shape={self.shape}, layout={self.layout}, "
            f"is_sparse={self.is_sparse}, shape_dynamism={self.shape_dynamism}, const={self.const}, "
            f"requires_grad={self.requires_grad}, device={self.device.name}:{self.device_index})"
        )


def dim_order_of(tensor: torch.Tensor) -> tuple[int, ...]:
    """As files have it: of the orders that strides of single elements leave open, the one PyTorch takes."""
    stride = tensor.stride()
    if _descends(stride):
        return tuple(range(len(stride)))
    return tuple(tensor.dim_order())


class UnknownToFiles(ExportError, KeyError):
    """A dtype or layout that the file format has no number for."""

    __str__ = Exception.__str__


def memory_format_enum(memory_format: torch.memory_format) -> int:
    return _MEMORY_FORMATS[memory_format]


def scalar_type_enum(dtype: torch.dtype) -> ScalarType:
    if dtype not in _SCALAR_TYPES:
        raise UnknownToFiles(
            ExportErrorType.NOT_SUPPORTED,
            f"dtype {dtype} has no number in the file format; convert the tensor to one of "
            f"{', '.join(str(known) for known in _SCALAR_TYPES)}",
        )
    return _SCALAR_TYPES[dtype]


def is_storable_dtype(dtype: torch.dtype) -> bool:
    """True when the file format has a number for `dtype`."""
    return dtype in _SCALAR_TYPES


def get_scalar_type(enum: ScalarType) -> torch.dtype:
    return _DTYPES[enum]


def layout_enum(layout: torch.layout) -> int:
    if layout not in _LAYOUTS:
        raise UnknownToFiles(
            ExportErrorType.NOT_SUPPORTED,
            f"layout {layout} is not strided; call .to_dense() first",
        )
    return _LAYOUTS[layout]


def make_allocation_info(mem_id: int, mem_offset: int) -> schema.AllocationDetails:
    if mem_id < 0 or mem_offset < 0:
        raise ValueError(
            f"arena {mem_id} and offset {mem_offset} must not be negative: memory planning numbers both from 0"
        )
    if mem_offset >= 1 << 64:
        raise AddressSpaceOverflowException(
            f"offset {mem_offset} in arena {mem_id} does not fit 64 bits"
        )
    return schema.AllocationDetails(
        memory_id=mem_id,
        memory_offset_low=mem_offset & 0xFFFFFFFF,
        memory_offset_high=mem_offset >> 32,
    )


def make_tensor_value(
    data_buffer_idx: int,
    allocation_info: schema.AllocationDetails | None,
    spec: TensorSpec,
) -> schema.Tensor:
    return schema.Tensor(
        scalar_type=scalar_type_enum(spec.scalar_type),
        storage_offset=0,
        sizes=[int(size) for size in spec.shape],
        dim_order=list(spec.dim_order),
        requires_grad=spec.requires_grad,
        layout=layout_enum(spec.layout),
        data_buffer_idx=data_buffer_idx,
        allocation_info=allocation_info,
        shape_dynamism=spec.shape_dynamism,
        extra_tensor_info=_with_device(spec),
    )


def _with_device(spec: TensorSpec) -> ExtraTensorInfo | None:
    """What the file says of a tensor beside its type; its device, unless that is the CPU."""
    if spec.device == DeviceType.CPU:
        return spec.extra_tensor_info
    return replace(
        spec.extra_tensor_info or ExtraTensorInfo(),
        device_type=spec.device,
        device_index=spec.device_index,
    )


def check_spec(tensor: torch.Tensor, spec: TensorSpec) -> None:
    """Raises InternalError when `spec` does not describe `tensor`."""
    expected = (tensor.dtype, list(tensor.shape), tensor.layout, tensor.is_sparse)
    found = (spec.scalar_type, spec.shape, spec.layout, spec.is_sparse)
    internal_assert(
        expected == found,
        f"expected dtype, shape, layout, sparse {expected}; spec says {found}",
    )
