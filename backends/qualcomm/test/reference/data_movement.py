# SPDX-License-Identifier: BSD-3-Clause
"""Operators that join, cut, repeat, reorder and pad."""

from __future__ import annotations

import itertools

import torch
from torch.nn import functional as F

from executorch.backends.qualcomm.test.reference.gemm import padding_of
from executorch.backends.qualcomm.test.reference.quantized_values import scale_and_offset
from executorch.backends.qualcomm.test.reference.row import (
    ANY,
    NUMBER,
    Call,
    Declared,
    Row,
    enum,
    i32s,
    u32,
    u32s,
)


def _concat(*inputs, axis):
    return torch.cat(inputs, axis)


def _pack(*inputs, axis):
    return torch.stack(inputs, axis)


def _un_pack(x, *, axis):
    return torch.unbind(x, axis)


def _split(x, *, axis, split_index):
    """`split_index`: where pieces but the first begin."""
    places = [0, *split_index, x.shape[axis]]
    sizes = [end - start for start, end in itertools.pairwise(places)]
    if min(sizes) <= 0:
        raise ValueError(f"places {split_index} are no rising ones within {x.shape[axis]}")
    return torch.split(x, sizes, axis)


def _strided_slice(x, *, ranges, begin_mask, end_mask, shrink_axes, new_axes_mask):
    """Bit i of a mask is of axis i. An end before the first element is -1."""
    if new_axes_mask:
        raise ValueError("new axes are not evaluated")
    for axis, (begin, end, step) in enumerate(ranges):
        size, is_one = x.shape[axis], shrink_axes >> axis & 1
        if step == 0:
            raise ValueError(f"a step of 0 along axis {axis}")
        first, last = (0, size) if step > 0 else (size - 1, -1)
        begin = first if begin_mask >> axis & 1 else begin
        end = last if end_mask >> axis & 1 else end
        end = begin + 1 if is_one else end
        if not 0 <= begin < size or not (0 if step > 0 else -1) <= end <= size:
            raise ValueError(f"range {begin}:{end}:{step} along axis {axis} of {size}")
        places = torch.arange(begin, end, 1 if is_one else step)
        x = x.index_select(axis, places)
    axes = [axis for axis in range(len(ranges)) if shrink_axes >> axis & 1]
    return x.squeeze(axes) if axes else x


def _reshape(call: Call, x):
    return x.reshape(call.outputs[0].dims)


def _tile(x, *, multiples):
    return x.repeat(multiples)


def _transpose(x, *, perm):
    return x.permute(perm)


def _pad(call: Call, x, *, scheme, pad_amount, pad_constant_value):
    """The constant of quantized tensors is a quantized value."""
    if scheme == 0:
        value = pad_constant_value
        if call.inputs[0].encoding is not None:
            scale, offset = scale_and_offset(call.inputs[0])
            value = (scale * (value + offset)).item()
        return F.pad(x, padding_of(pad_amount), value=value)
    for axis, (before, after) in enumerate(pad_amount):
        x = x.index_select(axis, _mirrored(x.shape[axis], before, after, scheme))
    return x


def _mirrored(size: int, before: int, after: int, scheme: int) -> torch.Tensor:
    """Places of the elements: 1 repeats the edge when it turns, 2 does not, 3 stays there."""
    places = torch.arange(-before, size + after)
    if scheme == 3:
        return places.clamp(0, size - 1)
    if max(before, after) > size - (scheme == 2):
        raise ValueError(f"padding of {before} and {after} mirrors more than the {size} there are")
    turn = 1 if scheme == 1 else 0
    places = torch.where(places < 0, -places - turn, places)
    return torch.where(places >= size, 2 * (size - 1) + turn - places, places)


MANY = 1 << 16

ROWS = {
    "Concat": Row(_concat, (1, MANY), {"axis": u32(0)}, takes=(ANY,)),
    "Pack": Row(_pack, (1, MANY), {"axis": u32(0)}, takes=(ANY,)),
    "UnPack": Row(
        _un_pack, (1, 1), {"axis": u32(0)}, outputs=(1, MANY), takes=(ANY,), is_data_movement=True
    ),
    "Split": Row(
        _split,
        (1, 1),
        {"axis": u32(), "split_index": u32s(-1)},
        outputs=(1, MANY),
        takes=(ANY,),
        is_data_movement=True,
    ),
    "StridedSlice": Row(
        _strided_slice,
        (1, 1),
        {
            "ranges": i32s("rank", 3),
            "begin_mask": u32(0),
            "end_mask": u32(0),
            "shrink_axes": u32(0),
            "new_axes_mask": u32(0),
        },
        takes=(ANY,),
    ),
    "Reshape": Row(_reshape, takes_call=True, takes=(ANY,), is_data_movement=True),
    "Tile": Row(_tile, (1, 1), {"multiples": u32s("rank")}, takes=(ANY,), is_data_movement=True),
    "Transpose": Row(
        _transpose, (1, 1), {"perm": u32s("rank")}, takes=(ANY,), is_data_movement=True
    ),
    "Pad": Row(
        _pad,
        (1, 1),
        {
            "scheme": enum(4),
            "pad_amount": u32s("rank", 2),
            "pad_constant_value": Declared(None, 0),
        },
        takes=(NUMBER,),
        takes_call=True,
    ),
}
