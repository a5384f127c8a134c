# SPDX-License-Identifier: BSD-3-Clause
"""TOSA's operators that fold dimensions or move elements and compute nothing else."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np

from executorch.backends.arm.test.tosa.arithmetic import Array, require


def _fold(function: Callable[..., Array]) -> Callable[[Any], Array]:
    return lambda call: function(call[0], axis=call.attribute.axis, keepdims=True)


def _pad(call: Any) -> Array:
    pairs = call[1].reshape(-1, 2)
    require(pairs >= 0, "PAD takes away")
    return np.pad(
        call[0], [tuple(each) for each in pairs.tolist()], constant_values=call[2].reshape(())[()]
    )


def _slice(call: Any) -> Array:
    start, size = call[1], call[2]
    require(
        (start >= 0) & (size > 0) & (start + size <= np.array(call[0].shape)),
        "SLICE leaves its input",
    )
    return call[0][
        tuple(slice(a, a + n) for a, n in zip(start.tolist(), size.tolist(), strict=True))
    ]


def _gather(call: Any) -> Array:
    values, indices = call[0], call[1]
    require((indices >= 0) & (indices < values.shape[1]), "an index of GATHER is out of range")
    return np.take_along_axis(values, indices[:, :, None], axis=1)


def _scatter(call: Any) -> Array:
    values, indices, updates = call[0].copy(), call[1], call[2]
    require((indices >= 0) & (indices < values.shape[1]), "an index of SCATTER is out of range")
    require(
        [len(set(row)) == len(row) for row in indices.tolist()],
        "an index of SCATTER is there twice",
    )
    np.put_along_axis(values, indices[:, :, None], updates, axis=1)
    return values


OPERATORS: dict[str, Callable[[Any], Array]] = {
    "REDUCE_SUM": _fold(np.sum),
    "REDUCE_PRODUCT": _fold(np.prod),
    "REDUCE_MAX": _fold(np.max),
    "REDUCE_MIN": _fold(np.min),
    "REDUCE_ANY": _fold(np.any),
    "REDUCE_ALL": _fold(np.all),
    "ARGMAX": lambda call: np.argmax(call[0], axis=call.attribute.axis),
    "CONCAT": lambda call: np.concatenate(call.inputs, axis=call.attribute.axis),
    "PAD": _pad,
    "RESHAPE": lambda call: call[0].reshape(tuple(call[1].tolist())),
    "REVERSE": lambda call: np.flip(call[0], axis=call.attribute.axis),
    "SLICE": _slice,
    "TILE": lambda call: np.tile(call[0], tuple(call[1].tolist())),
    "TRANSPOSE": lambda call: np.transpose(call[0], tuple(call.attribute.perms)),
    "GATHER": _gather,
    "SCATTER": _scatter,
    "IDENTITY": lambda call: call[0],
}
