# SPDX-License-Identifier: BSD-3-Clause
"""Rows of the table of operators: what one is given, which parameters it must have, and the function that computes
it."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from typing import Any

import torch

from executorch.backends.samsung.aot.graph import AINT8, Operator, Parameter
from executorch.backends.test.graph_run import InvalidGraph, where_is

# What a parameter may be, for messages. Numbers are floats, or integers that stand for them.
Check = Callable[[Parameter], bool]
WHOLE = "a whole number"
NUMBER = "a number"
FLAG = "a truth value"
_CHECKS: Mapping[str, Check] = {
    WHOLE: lambda value: type(value) is int,
    NUMBER: lambda value: type(value) in (int, float),
    FLAG: lambda value: type(value) is bool,
}


@dataclass(frozen=True)
class Several:
    """So many numbers; 0: any count. `kind`: of each."""

    kind: str = WHOLE
    count: int = 0

    def __str__(self) -> str:
        return f"{self.count or ''} times {self.kind}"

    def check(self, value: Parameter) -> bool:
        is_list = isinstance(value, tuple) and (not self.count or len(value) == self.count)
        return is_list and all(map(_CHECKS[self.kind], value))


Kind = str | Several | tuple[str, ...]  # a tuple: one of these texts


@dataclass(frozen=True)
class Row:
    """`inputs`: how few and how many. `optional`: parameters that may be missing; what has a single text to it is
    checked alone.

    `data`: the input from which on they are constants, which may be floats beside int8. `is_data_movement`: outputs are
    elements of the inputs, with their qparams. `says_quantized`: it has a quant_dtype wherever on int8. `converts`:
    between types and qparams. `takes_places`: its first input are whole numbers, of any type of them."""

    function: Callable[..., torch.Tensor]
    inputs: tuple[int, int] = (1, 1)
    parameters: Mapping[str, Kind] = field(default_factory=dict)
    optional: Mapping[str, Kind] = field(default_factory=dict)
    data: int | None = None
    is_data_movement: bool = False
    says_quantized: bool = True
    converts: bool = False
    takes_places: bool = False

    def read_parameters(self, operator: Operator, is_quantized: bool) -> dict[str, Any]:
        where, given = where_is(operator), dict(operator.parameters)
        found = given.pop("quant_dtype", None)
        wanted = AINT8 if is_quantized and (self.says_quantized or found) else None
        if found != wanted:
            raise InvalidGraph(f"{where}, parameter quant_dtype", wanted, found)
        known = {**self.parameters, **self.optional}
        for name in given:
            if name not in known:
                raise InvalidGraph(where, f"parameters {', '.join(known) or 'none'}", name)
        for name in self.parameters:
            if name not in given:
                raise InvalidGraph(f"{where}, parameter {name}", "a value", "none")
        for name, value in given.items():
            if not _fits(known[name], value):
                raise InvalidGraph(f"{where}, parameter {name}", known[name], repr(value))
        return {name: value for name, value in given.items() if not _is_single(known[name])}


def _fits(kind: Kind, value: Parameter) -> bool:
    if isinstance(kind, Several):
        return kind.check(value)
    return value in kind if isinstance(kind, tuple) else _CHECKS[kind](value)


def _is_single(kind: Kind) -> bool:
    return isinstance(kind, tuple) and len(kind) == 1
