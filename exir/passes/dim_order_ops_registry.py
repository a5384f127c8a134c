# SPDX-License-Identifier: BSD-3-Clause
"""Operators of the `dim_order_ops` namespace: copies and allocations that name a dim order instead of a memory
format. Defined here, from Python, so that exporting needs no native torch library."""

from __future__ import annotations

import torch
from torch.library import Library, impl, register_fake

from executorch.exir.dialects.edge._ops import EdgeOpOverload, edge_op_of
from executorch.exir.dim_order_utils import get_memory_format

lib = Library("dim_order_ops", "DEF")
lib.define(
    "_to_dim_order_copy(Tensor self, *, ScalarType? dtype=None, Layout? layout=None, "
    "Device? device=None, bool? pin_memory=None, bool non_blocking=False, "
    "int[]? dim_order=None) -> Tensor"
)
lib.define(
    "_to_dim_order_copy.out(Tensor self, *, bool non_blocking=False, int[]? dim_order=None, "
    "Tensor(a!) out) -> Tensor(a!)"
)
lib.define(
    "_empty_dim_order(int[] size, *, ScalarType? dtype=None, Layout? layout=None, "
    "Device? device=None, bool? pin_memory=None, int[]? dim_order=None) -> Tensor"
)
lib.define(
    "_empty_dim_order.out(int[] size, *, int[]? dim_order=None, Tensor(a!) out) -> Tensor(a!)"
)
lib.define(
    "_clone_dim_order(Tensor self, *, bool non_blocking=False, int[]? dim_order=None) -> Tensor"
)
lib.define(
    "_clone_dim_order.out(Tensor self, *, bool non_blocking=False, int[]? dim_order=None, "
    "Tensor(a!) out) -> Tensor(a!)"
)


@register_fake("dim_order_ops::_to_dim_order_copy", lib=lib)
@impl(lib, "_to_dim_order_copy", "CompositeExplicitAutograd")
def _to_dim_order_copy(
    self: torch.Tensor,
    *,
    dtype: torch.dtype | None = None,
    layout: torch.layout | None = None,
    device: torch.device | None = None,
    pin_memory: bool | None = None,
    non_blocking: bool = False,
    dim_order: list[int] | None = None,
) -> torch.Tensor:
    return torch.ops.aten._to_copy.default(
        self,
        dtype=dtype,
        layout=layout,
        device=device,
        pin_memory=pin_memory,
        non_blocking=non_blocking,
        memory_format=get_memory_format(dim_order),
    )


@register_fake("dim_order_ops::_clone_dim_order", lib=lib)
@impl(lib, "_clone_dim_order", "CompositeExplicitAutograd")
def _clone_dim_order(
    self: torch.Tensor, *, non_blocking: bool = False, dim_order: list[int] | None = None
) -> torch.Tensor:
    return torch.ops.aten.clone.default(self, memory_format=get_memory_format(dim_order))


@register_fake("dim_order_ops::_empty_dim_order", lib=lib)
@impl(lib, "_empty_dim_order", "CompositeExplicitAutograd")
def _empty_dim_order(
    size: list[int],
    *,
    dtype: torch.dtype | None = None,
    layout: torch.layout | None = None,
    device: torch.device | None = None,
    pin_memory: bool | None = None,
    dim_order: list[int] | None = None,
) -> torch.Tensor:
    return torch.ops.aten.empty.memory_format(
        size,
        dtype=dtype,
        layout=layout,
        device=device,
        pin_memory=pin_memory,
        memory_format=get_memory_format(dim_order) if dim_order is not None else None,
    )


def _write(out: torch.Tensor, value: torch.Tensor) -> torch.Tensor:
    if out.shape != value.shape:
        out.resize_(value.shape)
    return out.copy_(value)


@impl(lib, "_to_dim_order_copy.out", "CompositeExplicitAutograd")
@impl(lib, "_clone_dim_order.out", "CompositeExplicitAutograd")
def _copy_out(
    self: torch.Tensor,
    *,
    non_blocking: bool = False,
    dim_order: list[int] | None = None,
    out: torch.Tensor,
) -> torch.Tensor:
    return _write(out, self)


@impl(lib, "_empty_dim_order.out", "CompositeExplicitAutograd")
def _empty_dim_order_out(
    size: list[int], *, dim_order: list[int] | None = None, out: torch.Tensor
) -> torch.Tensor:
    return out if list(out.shape) == list(size) else out.resize_(size)


# Edge operators that name a memory format -> those that name a dim order, and back.
DimOrderOpsMap: dict[EdgeOpOverload, EdgeOpOverload] = {
    edge_op_of(old): edge_op_of(new)
    for old, new in (
        (torch.ops.aten._to_copy.default, torch.ops.dim_order_ops._to_dim_order_copy.default),
        (torch.ops.aten.empty.memory_format, torch.ops.dim_order_ops._empty_dim_order.default),
        (torch.ops.aten.clone.default, torch.ops.dim_order_ops._clone_dim_order.default),
    )
}
MemoryFormatOpsMap: dict[EdgeOpOverload, EdgeOpOverload] = {
    new: old for old, new in DimOrderOpsMap.items()
}
