# SPDX-License-Identifier: BSD-3-Clause
"""Sorting and what is found in sorted values, by topk, which every runtime has."""

from __future__ import annotations

from typing import Any

import torch

from executorch.exir.decompositions.sizes import CannotDecompose, has_nan

aten = torch.ops.aten
Tensor = torch.Tensor


def _sort(self: Tensor, dim: int = -1, descending: bool = False) -> tuple[Tensor, Tensor]:
    if self.dim() == 0:
        return self.clone(), torch.zeros((), dtype=torch.int64)
    return aten.topk(self, self.shape[dim], dim, descending, True)


def _kth_index(self: Tensor, k: Any, dim: int) -> Tensor:
    """Where the k-th smallest value stands, counted from 1; the dimension stays, with one element."""
    indices = aten.topk(self, k, dim, False, True)[1]
    return aten.slice(indices, dim, k - 1, k)


def _kthvalue(self: Tensor, k: Any, dim: int = -1, keepdim: bool = False) -> tuple[Tensor, Tensor]:
    return _picked(self, _kth_index(*_as_vector(self, k, dim)), dim, keepdim)


def _median_dim(self: Tensor, dim: int, keepdim: bool = False) -> tuple[Tensor, Tensor]:
    """The lower of the two in the middle; NaN where there is one."""
    vector = self if self.dim() else self.unsqueeze(0)
    index = _kth_index(vector, (vector.shape[dim] + 1) // 2, dim)
    if has_nan(self.dtype):
        is_lost = torch.isnan(vector).any(dim, True)
        index = torch.where(is_lost, vector.argmax(dim, True), index)
    return _picked(self, index, dim, keepdim)


def _nanmedian_dim(self: Tensor, dim: int, keepdim: bool = False) -> tuple[Tensor, Tensor]:
    """The median of what is a number; NaN stands last in order."""
    if not has_nan(self.dtype):
        return _median_dim(self, dim, keepdim)
    vector = self if self.dim() else self.unsqueeze(0)
    count = torch.isnan(vector).logical_not().sum(dim, True)
    place = ((count - 1).clamp(min=0) // 2).to(torch.int64)
    order = _sort(vector, dim)[1]
    return _picked(self, order.gather(dim, place), dim, keepdim)


def _picked(self: Tensor, index: Tensor, dim: int, keepdim: bool) -> tuple[Tensor, Tensor]:
    if self.dim() == 0:
        return self.clone(), torch.zeros((), dtype=torch.int64)
    value = self.gather(dim, index)
    return (value, index) if keepdim else (value.squeeze(dim), index.squeeze(dim))


def _as_vector(self: Tensor, *rest: Any) -> tuple[Any, ...]:
    return (self if self.dim() else self.unsqueeze(0), *rest)


def _median(self: Tensor) -> Tensor:
    return _median_dim(self.reshape(-1), 0)[0]


def _nanmedian(self: Tensor) -> Tensor:
    return _nanmedian_dim(self.reshape(-1), 0)[0]


def _searchsorted(
    sorted_sequence: Tensor,
    self: Tensor,
    *,
    out_int32: bool = False,
    right: bool = False,
    side: str | None = None,
    sorter: Tensor | None = None,
) -> Tensor:
    """How many of the sequence stand before each value. NaN stands after all."""
    sequence = sorted_sequence
    if sorter is not None:
        sequence = sequence.gather(-1, sorter)
    if sequence.dim() > 1:
        sequence = sequence.unsqueeze(-2)
    values = self.unsqueeze(-1)
    is_right = right or side == "right"
    is_after = sequence > values if is_right else sequence >= values
    count = is_after.logical_not().sum(-1)
    return count.to(torch.int32) if out_int32 else count


def _bucketize(
    self: Tensor, boundaries: Tensor, *, out_int32: bool = False, right: bool = False
) -> Tensor:
    return _searchsorted(boundaries, self, out_int32=out_int32, right=right)


def _unique2(
    self: Tensor, sorted: bool = True, return_inverse: bool = False, return_counts: bool = False
) -> tuple[Tensor, Tensor, Tensor]:
    values, order = _sort(self.reshape(-1), 0)
    found, group, counts = _runs(values, return_inverse, return_counts)
    if return_inverse:
        inverse = torch.zeros_like(order).scatter(0, order, group).view(self.shape)
    else:
        inverse = order.new_zeros([0])
    return found, inverse, counts


def _unique_consecutive(
    self: Tensor,
    return_inverse: bool = False,
    return_counts: bool = False,
    dim: int | None = None,
) -> tuple[Tensor, Tensor, Tensor]:
    if dim is not None and self.dim() != 1:
        raise CannotDecompose("unique_consecutive of slices")
    found, group, counts = _runs(self.reshape(-1), return_inverse, return_counts)
    inverse = group.view(self.shape) if return_inverse else counts.new_zeros([0])
    return found, inverse, counts


def _runs(values: Tensor, needs_group: bool, needs_counts: bool) -> tuple[Tensor, Tensor, Tensor]:
    """The first of each run of equal values, the run of each value, and the length of each run."""
    differs = aten.slice(values, 0, 1) != aten.slice(values, 0, 0, -1)
    # The first starts a run, when there is one.
    is_first = torch.cat([aten.slice(torch.ones_like(values, dtype=torch.bool), 0, 0, 1), differs])
    place = aten.nonzero(is_first).squeeze(1)
    found = aten.index_select(values, 0, place)
    group = place
    counts = torch.zeros_like(values, dtype=torch.int64)
    if needs_group or needs_counts:
        group = is_first.to(torch.int64).cumsum(0) - 1
    if needs_counts:
        ones = torch.ones_like(group)
        counts = torch.zeros_like(place).scatter_add(0, group, ones)
    else:
        counts = place.new_zeros([0])
    return found, group, counts


SORTING = {
    aten.sort.default: _sort,
    aten.kthvalue.default: _kthvalue,
    aten.median.default: _median,
    aten.median.dim: _median_dim,
    aten.nanmedian.default: _nanmedian,
    aten.nanmedian.dim: _nanmedian_dim,
    aten.searchsorted.Tensor: _searchsorted,
    aten.bucketize.Tensor: _bucketize,
    aten._unique2.default: _unique2,
    aten.unique_consecutive.default: _unique_consecutive,
}
