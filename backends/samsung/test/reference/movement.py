# SPDX-License-Identifier: BSD-3-Clause
"""Operators that copy elements."""

from __future__ import annotations

import torch
from torch import Tensor
from torch.nn import functional as F

from executorch.backends.samsung.test.reference.row import WHOLE, Row, Several


def _concat(*inputs: Tensor, axis: int, constant_index: int | None = None) -> Tensor:
    return torch.cat(inputs, axis)


def _pad(x: Tensor, *, explicit_padding: tuple[int, ...]) -> Tensor:
    """All that is put before, then all behind, by dimensions."""
    rank = x.dim()
    if len(explicit_padding) != 2 * rank or min(explicit_padding) < 0:
        raise ValueError(f"padding {explicit_padding} of {rank} dimensions")
    pairs = [(explicit_padding[dim], explicit_padding[rank + dim]) for dim in reversed(range(rank))]
    return F.pad(x, [each for pair in pairs for each in pair])


def _strided_slice(x: Tensor, *, begin: tuple[int, ...], end: tuple[int, ...], strides: tuple[int, ...],
                   shrink_axis_mask: int = 0) -> Tensor:  # fmt: skip
    """A bit of the mask: of that dimension the element at `begin`, and the dimension is gone."""
    places: list[slice | int] = []
    for dim, (first, stop, step) in enumerate(zip(begin, end, strides, strict=True)):
        if not (0 <= first <= stop <= x.shape[dim] and step > 0):
            raise ValueError(f"dimension {dim}: {first} to {stop} by {step} of {x.shape[dim]}")
        is_gone = shrink_axis_mask >> dim & 1
        if is_gone and stop != first + 1:
            raise ValueError(f"dimension {dim}: one element, found {first} to {stop}")
        places.append(first if is_gone else slice(first, stop, step))
    if len(places) != x.dim() or shrink_axis_mask >> x.dim():
        raise ValueError(f"{len(places)} places, mask {shrink_axis_mask} of {x.dim()} dimensions")
    return x[tuple(places)]


def _depth_to_space(x: Tensor, *, block_size: int) -> Tensor:
    """CRD: channels, then rows and columns of a block."""
    batch, channels, height, width = x.shape
    blocks = x.reshape(batch, -1, block_size, block_size, height, width)
    wide = blocks.permute(0, 1, 4, 2, 5, 3)
    return wide.reshape(batch, -1, height * block_size, width * block_size)


def _gather(places: Tensor, values: Tensor, *, axis: int) -> Tensor:
    if axis != 0:
        raise ValueError(f"axis {axis}: rows are gathered")
    if places.numel() and not 0 <= int(places.min()) <= int(places.max()) < len(values):
        raise ValueError(f"places {int(places.min())} to {int(places.max())} of {len(values)}")
    return values[places]


def _reshape(x: Tensor, *, new_shape: tuple[int, ...]) -> Tensor:
    return x.reshape(new_shape)


def _transpose(x: Tensor, *, perm: tuple[int, ...]) -> Tensor:
    return x.permute(perm)


_SLICE = {"begin": Several(), "end": Several(), "strides": Several()}
_PAD = {
    "explicit_padding": Several(),
    "padding": ("EXPLICIT",),
    "padding_type": ("CONSTANT",),
}
ROWS = {
    "CONCAT": Row(_concat, (1, 1 << 16), {"axis": WHOLE}, {"constant_index": WHOLE}, is_data_movement=True,
                  says_quantized=False),
    "PAD": Row(_pad, parameters=_PAD, is_data_movement=True, says_quantized=False),
    "TRANSPOSE": Row(_transpose, parameters={"perm": Several()}, is_data_movement=True, says_quantized=False),
    "RESHAPE": Row(_reshape, parameters={"new_shape": Several()}, is_data_movement=True, says_quantized=False),
    "STRIDEDSLICE": Row(_strided_slice, parameters=_SLICE, optional={"shrink_axis_mask": WHOLE}, is_data_movement=True,
                        says_quantized=False),
    "DEPTH_TO_SPACE": Row(_depth_to_space, parameters={"block_size": WHOLE, "mode": ("CRD",)}, is_data_movement=True,
                          says_quantized=False),
    "GATHER": Row(_gather, (2, 2), {"axis": WHOLE, "input_type": ("indices",)}, is_data_movement=True, data=1,
                  says_quantized=False, takes_places=True),
}  # fmt: skip
