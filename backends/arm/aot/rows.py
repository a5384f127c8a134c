# SPDX-License-Identifier: BSD-3-Clause
"""What a row of ops.py says, and the table of a specification: the rows with the conditions of its profiles."""

from __future__ import annotations

import functools
from collections.abc import Callable, Collection, Iterable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from typing import Any

import torch
from torch.fx import Node

from executorch.backends.arm.aot.emitter import TYPES
from executorch.backends.arm.aot.writer import TosaWriter
from executorch.backends.arm.tosa.specification import TosaSpecification
from executorch.exir.backend.lowering.annotation import NOT_QUANTIZED, Annotation, Kind
from executorch.exir.backend.lowering.mode_steps import (
    ModeStep as Step,
)
from executorch.exir.backend.lowering.mode_steps import (
    ModeTable,
    in_its_mode,
    is_float,
    results_of_many,
    static_qparams,
)
from executorch.exir.backend.lowering.op_table import (
    Condition,
    Constants,
    Row,
    of_static_tensors,
    tensors_of,
)
from executorch.exir.backend.lowering.patterns import Call
from executorch.exir.backend.lowering.quantized import is_dequantize, is_quantize
from executorch.exir.backend.lowering.steps import LIMITS
from executorch.exir.graph_facts import op_name

Lower = Callable[[TosaWriter, Step], None]

FLOATS = (torch.float32, torch.float16)
INT32 = (torch.int32,)
BOOL = (torch.bool,)
NUMBERS = (*FLOATS, *INT32)
MOVED = (torch.bool, torch.int8, torch.int16, torch.int32, *FLOATS)
INT8, INT8_16 = (torch.int8,), (torch.int8, torch.int16)
MAX_RANK = 6
BETWEEN = "it stands between the floats outside and a delegate that computes on integers"
NOT_U55 = Condition(lambda node, constants: False, "Ethos-U55 and U65 have no such operator")


@dataclass(frozen=True)
class ArmRow(Row):
    """`quantized`: lowers a step that reads and gives stored values. `dtypes`: of the others' tensors; `stored`: of
    the stored values; `beside`: places of operands that are neither, such as conditions and indices. `u55`: conditions
    on Ethos-U55 and U65; `when_quantized`: on a step that is."""

    quantized: Lower | None = field(default=None, kw_only=True)
    dtypes: tuple[torch.dtype, ...] = field(default=FLOATS, kw_only=True)
    stored: tuple[torch.dtype, ...] = field(default=INT8_16, kw_only=True)
    beside: tuple[int, ...] = field(default=(), kw_only=True)
    u55: tuple[Condition, ...] = field(default=(), kw_only=True)
    when_quantized: tuple[Condition, ...] = field(default=(), kw_only=True)


def row(
    lower: Lower | None,
    *conditions: Condition,
    quantized: Lower | None = None,
    whole: bool = False,
    annotation: Annotation = NOT_QUANTIZED,
    **more: Any,
) -> ArmRow:
    """`lower` None: of quantized steps alone. Limits behind arithmetic are a part of it, for which quantizers take
    them."""
    if annotation.kind is Kind.ARITHMETIC:
        more = {"tail": LIMITS, **more}

    def either(w: TosaWriter, step: Step) -> None:
        (quantized if step.is_quantized else lower)(w, step)

    return ArmRow(
        either,
        conditions,
        preserved=whole,
        annotation=annotation,
        quantized=quantized,
        **({"dtypes": ()} if lower is None else {}),
        **more,
    )


def names(dtypes: Iterable[torch.dtype]) -> str:
    return " or ".join(str(each).removeprefix("torch.") for each in dtypes)


class ArmTable(ModeTable[ArmRow]):
    """Of one specification."""

    def __init__(self, rows: Mapping[str | Call, ArmRow], spec: TosaSpecification) -> None:
        self.spec = spec
        made = {name: self._conditioned(each) for name, each in rows.items()}
        super().__init__(made, of_static_tensors(MAX_RANK), step=Step)

    def is_preserved(self, node: Node) -> bool:
        """Whether a call of a row that is preserved stays so: what has no form in floats does where it is quantized."""
        made = self.get(op_name(node))
        return made is None or bool(made.dtypes) or any(map(is_dequantize, node.all_input_nodes))

    def step_of(self, node: Node, constants: Collection[Node]) -> Step:
        """A call with its tail, and the quantize behind it where it computes on stored values."""
        step = self.step_at(node)
        found = in_its_mode(step, constants)
        if not self.spec.support_integer():
            return replace(step, last=step.result)
        if found.is_quantized and self.spec.support_float() and self.row(node).quantized is None:
            return replace(step, last=step.result)
        return found

    # ---- Conditions ----

    def _conditioned(self, made: ArmRow) -> ArmRow:
        checks = [*self._of_mode(made), *made.conditions]
        if self.spec.is_U55_subset:
            checks += made.u55
        stored = [
            Condition(functools.partial(self._if_stored, each.test), each.reason)
            for each in made.when_quantized
        ]
        return replace(made, conditions=(*checks, *stored))

    def _if_stored(
        self, test: Callable[[Any, Constants], bool], node: Node, constants: Constants
    ) -> bool:
        return not self.step_of(node, constants).is_quantized or test(node, constants)

    def _of_mode(self, made: ArmRow) -> list[Condition]:
        spec = self.spec
        stored = made.stored
        if not spec.support_extension("int16"):
            stored = tuple(each for each in stored if each != torch.int16)
        plain = made.dtypes
        if not spec.support_float():
            plain = tuple(each for each in plain if not each.is_floating_point)
        elif not spec.support_integer():
            plain = tuple(each for each in plain if each not in (torch.int8, torch.int16))

        def is_known_mode(node: Node, constants: Constants) -> bool:
            step = self.step_of(node, constants)
            if step.is_quantized:
                values = [each for each in _values_of(step, made) if each not in constants]
                return all(map(is_dequantize, values)) or is_quantize(node) or is_dequantize(node)
            return spec.support_float() or not _reads_floats(step)

        def is_taken_stored(node: Node, constants: Constants) -> bool:
            step = self.step_of(node, constants)
            return not step.is_quantized or made.quantized is not None

        def are_stored(node: Node, constants: Constants) -> bool:
            step = self.step_of(node, constants)
            return not step.is_quantized or all(each in stored for each in _stored_types(step))

        def are_plain(node: Node, constants: Constants) -> bool:
            step = self.step_of(node, constants)
            return step.is_quantized or _have_types(step, made, plain, constants)

        def are_of_one(node: Node, constants: Constants) -> bool:
            step = self.step_of(node, constants)
            return step.is_quantized or len(_floats_of(node)) < 2

        return [
            Condition(
                is_known_mode,
                "not quantized: a dequantize before each operand and a quantize behind each result are expected",
            ),
            Condition(is_taken_stored, "quantized values are not taken"),
            Condition(are_stored, f"values stored as {names(stored)} are expected"),
            Condition(
                are_plain, f"tensors of dtype {names(plain) or 'int8, quantized,'} are expected"
            ),
            Condition(are_of_one, "floats of one dtype are expected"),
        ]


def _reads_floats(step: Step) -> bool:
    found = tensors_of(step.head)
    return any(map(is_float, found))


def _stored_types(step: Step) -> list[torch.dtype]:
    """But for biases."""
    sources = [each for each in step.head.all_input_nodes if is_dequantize(each)]
    results = (
        [step.result]
        if is_quantize(step.result)
        else [user for item in results_of_many(step) for user in item.users]
    )
    qparams = filter(None, map(static_qparams, (*sources, *results)))
    return [each.dtype for each in qparams if each.dtype != torch.int32]


def _values_of(step: Step, made: ArmRow) -> list[Node]:
    """Operands, but for conditions and indices."""
    args = step.head.args
    beside = [args[place] for place in made.beside if place < len(args)]
    return [each for each in step.head.all_input_nodes if each not in beside]


def _have_types(
    step: Step, made: ArmRow, allowed: Sequence[torch.dtype], constants: Collection[Node]
) -> bool:
    """What is read and comes out. Of constants, int64 that int32 holds, too; what comes out may be a condition."""
    values = _values_of(step, made)
    for each in tensors_of(step.head):
        is_read = each in step.head.all_input_nodes
        dtype = (each if is_read else step.result if each is step.head else each).meta["val"].dtype
        is_index = dtype in (torch.int64, torch.int32) and each in constants
        taken = (
            allowed
            if each in values
            else (torch.bool, torch.int32)
            if is_read
            else (*allowed, torch.bool)
        )
        if not is_index and (dtype not in taken or dtype not in TYPES):
            return False
    return True


def _floats_of(node: Node) -> set[torch.dtype]:
    found = [each.meta["val"].dtype for each in tensors_of(node)]
    return {each for each in found if each.is_floating_point}
