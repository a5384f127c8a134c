# SPDX-License-Identifier: BSD-3-Clause
"""Rows of norms and softmax."""

from __future__ import annotations

import torch
from torch.fx import Node

from executorch.backends.samsung.aot.rows import (
    OF_FLOATS,
    EnnRow,
    Lower,
    in_floats,
    quant_dtype,
    row,
)
from executorch.backends.samsung.aot.writer import GraphWriter
from executorch.exir.backend.lowering.mode_steps import ModeStep
from executorch.exir.backend.lowering.op_table import ONLY_FIRST, Condition, is_constant, when
from executorch.exir.backend.lowering.quantized import is_dequantize


def _parameter(w: GraphWriter, step: ModeStep, place: int, count: int, value: float) -> int:
    """A constant of the call; `value` for each channel where it has none."""
    found = step.head.args[place]
    if found is not None:
        return w.constant(found.name, *w.weight(found))
    dtype = step.head.args[0].meta["val"].dtype
    return w.constant(f"{step.head.name}_{place}", torch.full((count,), value, dtype=dtype))


def _batch_norm(w: GraphWriter, step: ModeStep) -> None:
    x = step.head.args[0]
    count = int(x.meta["val"].shape[1])
    values = [
        _parameter(w, step, place, count, value)
        for place, value in ((1, 1.0), (2, 0.0), (3, 0.0), (4, 1.0))
    ]
    w.give("BatchNormalization", w.take(x), *values, epsilon=float(step.head.args[6]))


def _layer_norm(w: GraphWriter, step: ModeStep) -> None:
    x, sizes = step.head.args[:2]
    values = [
        _parameter(w, step, place, int(sizes[-1]), value) for place, value in ((2, 1.0), (3, 0.0))
    ]
    epsilon = float(step.head.args[4])
    w.give("LAYERNORM", w.take(x), *values, epsilon=epsilon, **quant_dtype(step))


def _softmax(kind: str, says_dtype: bool = True) -> Lower:
    def lower(w: GraphWriter, step: ModeStep) -> None:
        x, dim = step.head.args[:2]
        w.give(kind, w.take(x), axis=int(dim), **(quant_dtype(step) if says_dtype else {}))

    return lower


def _is_last(node: Node) -> bool:
    return len(node.args[1]) == 1


LAST = when(_is_last, "a norm over the last dimension is expected")
PARAMETERS = Condition(
    is_constant("weight", "bias", "running_mean", "running_var"),
    "weights and statistics that are static are expected",
)
# Of a row that is -inf as a whole it gives zeros, SOFTMAX no numbers; int8 has no -inf.
OF_INT8 = when(
    lambda node: is_dequantize(node.args[0]),
    "int8 is expected: a row of floats may be masked whole",
)
SAME_DTYPE = when(
    lambda node: not any(node.args[2:3]), "a softmax in the dtype of its operand is expected"
)

ROWS: dict[str, EnnRow] = {
    "aten._native_batch_norm_legit_no_training.default": in_floats(
        _batch_norm, OF_FLOATS, ONLY_FIRST, PARAMETERS
    ),
    "aten.native_layer_norm.default": row(_layer_norm, OF_FLOATS, ONLY_FIRST, PARAMETERS, LAST, weights=(2,),
                                          has_floats=True),
    "aten._softmax.default": row(_softmax("SOFTMAX"), OF_FLOATS, SAME_DTYPE),
    "aten._safe_softmax.default": row(_softmax("SOFTMAX"), OF_FLOATS, OF_INT8, preserved=True),
    "aten._log_softmax.default": row(_softmax("LOGSOFTMAX", says_dtype=False), OF_FLOATS, SAME_DTYPE),
}  # fmt: skip
