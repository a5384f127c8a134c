# SPDX-License-Identifier: BSD-3-Clause
"""Reductions, places of extremes, sums so far and the k largest."""

from __future__ import annotations

import torch

from executorch.backends.qualcomm.test.reference.row import FLOAT, NUMBER, Row, flag, u32, u32s


def _reduction(function, kinds: str = NUMBER) -> Row:
    def reduced(x, *, axes, keep_dims):
        if len(set(axes)) != len(axes):
            raise ValueError(f"axes {axes} name one twice")
        return function(x, axes, keepdim=keep_dims)

    return Row(reduced, parameters={"axes": u32s(-1), "keep_dims": flag(False)}, takes=(kinds,))


def _place(function) -> Row:
    def found(x, *, axis, keep_dims):
        return function(x, axis, keepdim=keep_dims)

    parameters = {"axis": u32(), "keep_dims": flag(False)}
    return Row(found, parameters=parameters, converts=True, takes=(NUMBER,))


def _cumulative_sum(x, *, axis, exclusive, reverse):
    """`exclusive`: without the element itself; `reverse`: from the end."""
    values = x.flip(axis) if reverse else x
    sums = values.cumsum(axis) - (values if exclusive else 0)
    return sums.flip(axis) if reverse else sums


def _top_k(x, *, k, largest):
    return tuple(torch.topk(x, k, -1, largest, sorted=True))


ROWS = {
    "ReduceMax": _reduction(torch.amax),
    "ReduceMin": _reduction(torch.amin),
    "ReduceMean": _reduction(torch.mean, FLOAT),
    "ReduceSum": _reduction(torch.sum),
    "Argmax": _place(torch.argmax),
    "Argmin": _place(torch.argmin),
    "CumulativeSum": Row(
        _cumulative_sum,
        parameters={"axis": u32(), "exclusive": flag(False), "reverse": flag(False)},
        takes=(NUMBER,),
    ),
    "TopK": Row(
        _top_k,
        parameters={"k": u32(), "largest": flag(True)},
        outputs=(2, 2),
        takes=(NUMBER,),
        is_data_movement=True,
    ),
}
