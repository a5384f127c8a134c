# SPDX-License-Identifier: BSD-3-Clause
"""Rows of the table of operators: what one is given, which parameters it has, and the function that computes it."""

from __future__ import annotations

import math
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from typing import Any

import numpy as np
import torch

from executorch.backends.qualcomm.aot.graph import (
    Array,
    DataType,
    Operator,
    Parameter,
    Scalar,
    Tensor,
)
from executorch.backends.qualcomm.test.reference.quantized_values import kind, limits
from executorch.backends.test.graph_run import InvalidGraph

MANDATORY = object()
# Kinds of types, several in one string: quantized values are floats; integers are computed with in 32 bits.
FLOAT, BOOL, INTEGER = "float", "bool", "integer"
NUMBER = "float INT_32"
ANY = "float integer bool"


@dataclass(frozen=True)
class Declared:
    """A parameter. `dims`: of an array; -1: as many as there are, "rank": as the first input has. `count`: an enum's
    values are below it. No `dtype`: that of the values."""

    dtype: DataType | None
    default: Any = MANDATORY
    dims: tuple[int | str, ...] | None = None
    count: int | None = None

    def read(self, where: str, given: Parameter | None, rank: int) -> Any:
        """A number, or nested lists of them."""
        if given is None:
            if self.default is MANDATORY:
                raise InvalidGraph(where, "a value, since it is mandatory", "none")
            return self.default
        self._check_type(where, given)
        if isinstance(given, Scalar):
            return bool(given.value) if given.dtype is DataType.BOOL_8 else given.value
        wanted = tuple(rank if each == "rank" else each for each in self.dims)
        fits = len(wanted) == len(given.dims) and all(
            want in (-1, found) for want, found in zip(wanted, given.dims, strict=True)
        )
        if not fits:
            raise InvalidGraph(where, f"dims {wanted}", given.dims)
        if math.prod(given.dims) != len(given.values):
            raise InvalidGraph(where, f"{math.prod(given.dims)} values", len(given.values))
        return np.array(given.values).reshape(given.dims).tolist()

    def _check_type(self, where: str, given: Parameter) -> None:
        wanted = Scalar if self.dims is None else Array
        if not isinstance(given, wanted):
            raise InvalidGraph(where, wanted.__name__, type(given).__name__)
        if self.dtype not in (None, given.dtype):
            raise InvalidGraph(where, self.dtype.name, given.dtype.name)
        values = given.values if isinstance(given, Array) else (given.value,)
        if kind(given.dtype) == "integer":
            least, most = limits(given.dtype)
            most = most if self.count is None else self.count - 1
            for value in values:
                if not isinstance(value, int) or not least <= value <= most:
                    raise InvalidGraph(where, f"integers from {least} to {most}", value)


def u32(default: Any = MANDATORY) -> Declared:
    return Declared(DataType.UINT_32, default)


def i32(default: Any = MANDATORY) -> Declared:
    return Declared(DataType.INT_32, default)


def f32(default: Any = MANDATORY) -> Declared:
    return Declared(DataType.FLOAT_32, default)


def flag(default: Any = MANDATORY) -> Declared:
    return Declared(DataType.BOOL_8, default)


def enum(count: int, default: Any = MANDATORY) -> Declared:
    return Declared(DataType.UINT_32, default, count=count)


def u32s(*dims: int | str, default: Any = MANDATORY) -> Declared:
    return Declared(DataType.UINT_32, default, dims)


def i32s(*dims: int | str, default: Any = MANDATORY) -> Declared:
    return Declared(DataType.INT_32, default, dims)


@dataclass(frozen=True)
class Call:
    """What an operator reads and gives, without the values."""

    operator: Operator
    inputs: tuple[Tensor, ...]
    outputs: tuple[Tensor, ...]


@dataclass(frozen=True)
class Row:
    """`inputs`: how few and how many. `function`: of the inputs' numbers and of parameters by name, to one tensor or
    several.

    `takes`: kinds of the inputs; the last is of all that follow, which are of one type.
    `takes_call`: a Call comes first. `factored_axes`: input 0 and 1 come Factored, with scales along these axes.
    `converts`: between types and encodings. `is_data_movement`: outputs are elements of input 0, in its encoding."""

    function: Callable[..., torch.Tensor | tuple[torch.Tensor, ...]]
    inputs: tuple[int, int] = (1, 1)
    parameters: Mapping[str, Declared] = field(default_factory=dict)
    outputs: tuple[int, int] = (1, 1)
    takes: tuple[str, ...] = (FLOAT,)
    takes_call: bool = False
    factored_axes: tuple[int, int] | None = None
    converts: bool = False
    is_data_movement: bool = False

    def read_parameters(self, operator: Operator, rank: int) -> dict[str, Any]:
        for name in operator.parameters:
            if name not in self.parameters:
                known = ", ".join(self.parameters) or "no parameter"
                raise InvalidGraph(f"{operator.name} ({operator.type})", known, name)
        return {
            name: each.read(
                f"{operator.name} ({operator.type}), parameter {name}",
                operator.parameters.get(name),
                rank,
            )
            for name, each in self.parameters.items()
        }
