# SPDX-License-Identifier: BSD-3-Clause
"""Operators that read and write where a tensor of indices says."""

from __future__ import annotations

import torch

from executorch.backends.qualcomm.test.reference.row import ANY, INTEGER, Row, enum, i32, u32

_REDUCTIONS = (None, "sum", "prod", "amax", "amin")


def _check_indices(indices: torch.Tensor, size: int) -> None:
    if indices.numel() and not 0 <= int(indices.min()) <= int(indices.max()) < size:
        found = f"{int(indices.min())} to {int(indices.max())}"
        raise ValueError(f"indices from 0 to {size - 1}, found {found}")


def _gather(x, indices, *, axis):
    _check_indices(indices, x.shape[axis])
    axis %= x.ndim
    found = x.index_select(axis, indices.flatten())
    return found.unflatten(axis, indices.shape)


def _gather_elements(x, indices, *, axis):
    _check_indices(indices, x.shape[axis])
    return torch.gather(x, axis, indices)


def _scatter_elements(x, indices, updates, *, axis, reduction):
    _check_indices(indices, x.shape[axis])
    if indices.shape != updates.shape:
        raise ValueError(f"updates of {tuple(indices.shape)}, found {tuple(updates.shape)}")
    if reduction == 0:
        return x.scatter(axis, indices, updates)
    return x.scatter_reduce(axis, indices, updates, _REDUCTIONS[reduction])


def _scatter_nd(x, indices, updates, *, reduction):
    """The last dimension of `indices` has the places in the first dimensions of x."""
    depth = indices.shape[-1]
    shape = (*indices.shape[:-1], *x.shape[depth:])
    if tuple(updates.shape) != shape:
        raise ValueError(f"updates of {shape}, found {tuple(updates.shape)}")
    places = indices.reshape(-1, depth).unbind(-1)
    flat = torch.zeros_like(places[0])
    for place, size in zip(places, x.shape, strict=False):
        _check_indices(place, size)
        flat = flat * size + place
    rows = x.reshape(-1, *x.shape[depth:])
    values = updates.reshape(-1, *x.shape[depth:])
    if reduction == 0:
        return rows.index_put((flat,), values).reshape(x.shape)
    index = flat.reshape(-1, *[1] * (values.ndim - 1)).expand_as(values)
    rows = rows.scatter_reduce(0, index, values, _REDUCTIONS[reduction])
    return rows.reshape(x.shape)


ROWS = {
    "Gather": Row(_gather, (2, 2), {"axis": i32(0)}, takes=(ANY, INTEGER), is_data_movement=True),
    "GatherElements": Row(
        _gather_elements, (2, 2), {"axis": u32(0)}, takes=(ANY, INTEGER), is_data_movement=True
    ),
    "ScatterElements": Row(
        _scatter_elements,
        (3, 3),
        {"axis": u32(0), "reduction": enum(5, 0)},
        takes=(ANY, INTEGER, ANY),
    ),
    "ScatterNd": Row(_scatter_nd, (3, 3), {"reduction": enum(3, 0)}, takes=(ANY, INTEGER, ANY)),
}
