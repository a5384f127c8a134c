# SPDX-License-Identifier: BSD-3-Clause
"""What the rows of ops.py are made of: the table with its modes, conditions, and the layouts in which rows run."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from typing import Any

import torch
from torch.fx import Node

from executorch.backends.qualcomm.aot.blocks import is_blocked_filter
from executorch.backends.qualcomm.aot.encodings import TYPES
from executorch.backends.qualcomm.aot.writer import GraphWriter
from executorch.exir.backend.lowering.annotation import NOT_QUANTIZED, Annotation
from executorch.exir.backend.lowering.layout import NHWC, PLAIN, Candidates, alike, plain
from executorch.exir.backend.lowering.mode_steps import ModeStep, ModeTable, in_its_mode, is_float
from executorch.exir.backend.lowering.op_table import (
    COMPUTED_AHEAD,
    Condition,
    Constants,
    Row,
    TensorCondition,
    of_static_tensors,
    when,
)
from executorch.exir.backend.lowering.quantized import (
    is_dequantize,
    quantization_of,
)
from executorch.exir.backend.lowering.steps import sources_of

Lower = Callable[[GraphWriter, ModeStep], Any]
MAX_RANK = 5


def _has_type(tensor: Node, call: Node) -> bool:
    value = tensor.meta.get("val")
    return isinstance(value, torch.Tensor) and value.dtype in TYPES


OF_TENSORS = (
    TensorCondition(_has_type, "a tensor of floats, booleans or integers is expected"),
    *of_static_tensors(MAX_RANK),
)


class QnnTable(ModeTable[Row]):
    """`in_floats`: whether a call is computed in floats, also between quantized values."""

    def __init__(self, rows: Mapping[str, Row], in_floats: Callable[[Node], bool]) -> None:
        super().__init__(rows, OF_TENSORS, (COMPUTED_AHEAD,), step=ModeStep)
        self._in_floats = in_floats

    def step_of(self, node: Node, constants: Constants) -> ModeStep:
        """A call, and the quantize behind it where all around it is quantized."""
        step = self.step_at(node)
        found = in_its_mode(step, constants)
        floats = [each for each in sources_of(step) if is_float(each)]
        is_known = not self._in_floats(step.head) and all(
            is_known_dequantize(each) or is_blocked_filter(each, step.head, constants)
            for each in floats
        )
        if not found.is_quantized or not is_known:
            return ModeStep(step.head, step.result, step.calls, step.named, last=step.result)
        return found


def is_known_dequantize(node: Node) -> bool:
    """In a form that encodings have: one scale, or one for each channel."""
    qparams = quantization_of(node) if is_dequantize(node) else None
    return qparams is not None and qparams.group_size == 0


# ---- Layouts ----


def either(step: ModeStep, operands: Sequence[Node]) -> Candidates:
    """What computes element by element, or along dimensions that it is told. Operands of fewer dimensions line up with
    plain ones only, unless they are numbers or constants."""
    value = step.head.meta["val"]
    rank = (value[0] if isinstance(value, tuple | list) else value).dim()
    is_image = rank in (4, 5) and all(each.meta["val"].dim() == rank for each in operands)
    return alike(operands, PLAIN, NHWC) if is_image else plain(step, operands)


# ---- Conditions ----


def row(
    lower: Lower,
    *conditions: Condition,
    layouts: Callable[..., Candidates] | None = None,
    preserved: bool = False,
    annotation: Annotation = NOT_QUANTIZED,
) -> Row:
    return Row(lower, conditions, preserved, layouts=layouts, annotation=annotation)


# dtypes that operators of numbers compute in; integers of 64 bits have 32 inside.
NUMBERS = (torch.float32, torch.float16, torch.int32, torch.int64)


def _dtypes(node: Node) -> set[torch.dtype]:
    return {each.meta["val"].dtype for each in node.all_input_nodes}


def _is_of_one_mode(node: Node) -> bool:
    return all(map(is_float, node.all_input_nodes)) or not _reads_quantized(node)


def _reads_quantized(node: Node) -> bool:
    return any(map(is_dequantize, node.all_input_nodes))


FLOAT_RESULT = when(is_float, "a result of floats is expected")
OF_FLOATS = when(lambda node: all(map(is_float, node.all_input_nodes)), "floats are expected")
OF_NUMBERS = when(
    lambda node: _dtypes(node) <= set(NUMBERS), "floats, or integers of 32 or 64 bits, are expected"
)
OF_ONE_MODE = when(_is_of_one_mode, "integers beside quantized values")
NO_QUANTIZED = when(lambda node: not _reads_quantized(node), "quantized values")


def alone(kind: str, dtype: torch.dtype | None = None) -> Lower:
    """An operator without parameters, of all tensors that the call reads, in a dtype, else that of the result."""

    def lower(w: GraphWriter, step: ModeStep) -> None:
        computed = dtype or step.head.meta["val"].dtype
        tensors = [each for each in step.head.args if isinstance(each, Node)]
        w.give(kind, *(w.cast(w.take(each), computed) for each in tensors))

    return lower
