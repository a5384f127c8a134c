# SPDX-License-Identifier: BSD-3-Clause
"""Pools over windows of NHWC and NDHWC."""

from __future__ import annotations

from functools import partial

import torch
from torch.nn import functional as F

from executorch.backends.qualcomm.test.reference.gemm import padding_of
from executorch.backends.qualcomm.test.reference.row import Row, enum, flag, u32s


def _beyond(size: int, window: int, step: int, rounding_mode: int) -> int:
    """How far the last window reaches beyond `size`, the padding within."""
    steps, left = divmod(size - window, step)
    is_more = bool(left) and rounding_mode == 1
    return max(0, (steps + is_more) * step + window - size)


def _windows(x, filter_size, stride, pad_amount, rounding_mode, pads, beyond):
    """[batch, channels, places.., elements of a window]; `pads`, `beyond`: values there."""
    values = F.pad(x.movedim(-1, 1), padding_of(pad_amount), value=pads)
    sizes = values.shape[2:]
    edges = [
        [0, _beyond(*each, rounding_mode)] for each in zip(sizes, filter_size, stride, strict=True)
    ]
    values = F.pad(values, padding_of(edges), value=beyond)
    for place, (window, step) in enumerate(zip(filter_size, stride, strict=True)):
        values = values.unfold(2 + place, window, step)
    return values.flatten(2 + len(stride))


def _max(x, **parameters):
    """Padding is zeros, which count; what rounding up adds behind does not."""
    found = _windows(x, **parameters, pads=0.0, beyond=-torch.inf)
    return found.amax(-1).movedim(1, -1)


def _average(x, *, count_pad_for_edges, **parameters):
    total = _windows(x, **parameters, pads=0.0, beyond=0.0).sum(-1)
    ones, pads = torch.ones_like(x), float(count_pad_for_edges)
    count = _windows(ones, **parameters, pads=pads, beyond=0.0).sum(-1)
    return (total / count).movedim(1, -1)


def _pool(spatial: int, function, **more) -> Row:
    return Row(
        function,
        parameters={
            "filter_size": u32s(spatial),
            "stride": u32s(spatial),
            "pad_amount": u32s(spatial, 2, default=[[0, 0]] * spatial),
            "rounding_mode": enum(2, 0),
            **more,
        },
    )


_average_pool = partial(_pool, function=_average, count_pad_for_edges=flag(False))

ROWS = {
    "PoolAvg2d": _average_pool(2),
    "PoolAvg3d": _average_pool(3),
    "PoolMax2d": _pool(2, _max),
}
