# SPDX-License-Identifier: BSD-3-Clause
"""Which parts of the model the calls of a program stand for, as findings name them."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import replace

from executorch.devtools.commands.origins import Origin, Origins
from executorch.devtools.commands.output.finding import (
    Layer,
)
from executorch.devtools.commands.program_file import (
    Call,
)
from executorch.devtools.commands.times import THE_MODEL


def lines_of(calls: Sequence[Call], origins: Origins | None) -> tuple[str, ...]:
    return (
        shown_lines(origin for call in calls for origin in origins.of_call(call)) if origins else ()
    )


def layers_of(calls: Sequence[Call], origins: Origins | None) -> tuple[Layer, ...]:
    """One a call, without its time."""
    return tuple(
        replace(
            layer_of(
                origins.of_call(call) if origins else [], call.name, f"call {call.instruction}"
            ),
            place=(call.method, call.instruction),
        )
        for call in calls
    )


def layer_of(known: Sequence[Origin], operator: str, otherwise: str) -> Layer:
    """By the first node that a call stands for."""
    if not known:
        return Layer(otherwise, operator)
    return Layer(known[0].module or THE_MODEL, operator, str(known[0]))


def fields_of(
    calls: Sequence[Call], written: int, origins: Origins | None, cause: str
) -> tuple[int, int, tuple[str, ...], str, tuple[Layer, ...]]:
    """The later fields of a finding about calls."""
    return len(calls), written, lines_of(calls, origins), cause, layers_of(calls, origins)


def shown_lines(origins: Iterable[Origin]) -> tuple[str, ...]:
    return tuple(dict.fromkeys(map(str, origins)))
