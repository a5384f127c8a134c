# SPDX-License-Identifier: BSD-3-Clause
"""Operators of the `executorch_prim` namespace: arithmetic on sizes and other scalars that the runtime's core
carries out itself. One row per operator: name, schema, meaning."""

from __future__ import annotations

import builtins
import math
import operator
from collections.abc import Callable
from typing import Any

import torch
from torch import SymBool, SymFloat, SymInt
from torch.library import Library

_SymScalar = SymBool | SymFloat | SymInt
_BINARY = "(Scalar a, Scalar b) -> Scalar"
_COMPARE = "(Scalar a, Scalar b) -> bool"
_UNARY = "(Scalar a) -> Scalar"

executorch_prims_lib = Library("executorch_prim", "DEF")


def add(a: _SymScalar, b: _SymScalar) -> _SymScalar:
    return a + b


def mul(a: _SymScalar, b: _SymScalar) -> _SymScalar:
    return a * b


def sub(a: _SymScalar, b: _SymScalar) -> _SymScalar:
    return a - b


def floordiv(a: _SymScalar, b: _SymScalar) -> _SymScalar:
    return a // b


def truediv(a: _SymScalar, b: _SymScalar) -> _SymScalar:
    return a / b


def sym_float(a: _SymScalar) -> _SymScalar:
    return torch.sym_float(a)


def sym_int(a: _SymScalar) -> _SymScalar:
    return torch.sym_int(a)


def gt(a: _SymScalar, b: _SymScalar) -> bool:
    return a > b


def lt(a: _SymScalar, b: _SymScalar) -> bool:
    return a < b


def ge(a: _SymScalar, b: _SymScalar) -> bool:
    return a >= b


def le(a: _SymScalar, b: _SymScalar) -> bool:
    return a <= b


def eq(a: _SymScalar, b: _SymScalar) -> bool:
    return a == b


def mod(a: SymInt, b: SymInt) -> SymInt:
    return a % b


def neg(a: _SymScalar) -> _SymScalar:
    return -a


def ceil(a: _SymScalar) -> _SymScalar:
    return math.ceil(a)


def builtin_round(a: _SymScalar) -> _SymScalar:
    return builtins.round(a)


def trunc(a: _SymScalar) -> _SymScalar:
    return math.trunc(a)


def sym_max(a: _SymScalar, b: _SymScalar) -> bool:
    return torch.sym_max(a, b)


def sym_min(a: _SymScalar, b: _SymScalar) -> bool:
    return torch.sym_min(a, b)


def sym_not(a: _SymScalar) -> bool:
    return torch.sym_not(a)


def sym_ite(b: _SymScalar, t: _SymScalar, f: _SymScalar) -> _SymScalar:
    return torch.sym_ite(b, t, f)


_ROWS: list[tuple[str, str, Callable[..., Any]]] = [
    ("add", _BINARY, add),
    ("sub", _BINARY, sub),
    ("mul", _BINARY, mul),
    ("floordiv", _BINARY, floordiv),
    ("truediv", _BINARY, truediv),
    ("sym_max", _BINARY, sym_max),
    ("sym_min", _BINARY, sym_min),
    ("mod", "(SymInt a, SymInt b) -> SymInt", mod),
    ("gt", _COMPARE, gt),
    ("lt", _COMPARE, lt),
    ("ge", _COMPARE, ge),
    ("le", _COMPARE, le),
    ("eq", _COMPARE, eq),
    ("neg", _UNARY, neg),
    ("ceil", _UNARY, ceil),
    ("round", _UNARY, builtin_round),
    ("trunc", _UNARY, trunc),
    ("sym_float", _UNARY, sym_float),
    ("sym_int", _UNARY, sym_int),
    ("sym_not", "(Scalar a) -> bool", sym_not),
    ("sym_ite", "(Scalar b, Scalar t, Scalar f) -> Scalar", sym_ite),
]
for _name, _schema, _function in _ROWS:
    executorch_prims_lib.define(f"{_name}.Scalar{_schema}")
    executorch_prims_lib.impl(f"{_name}.Scalar", _function, "CompositeImplicitAutograd")


def _prim(name: str) -> torch._ops.OpOverload:
    return getattr(torch.ops.executorch_prim, name).Scalar


# What torch.export writes for arithmetic on sizes -> what a file holds.
_PYTHON_SYM_OPS_TO_EXECUTORCH_SYM_OPS: dict[Any, torch._ops.OpOverload] = {
    operator.add: _prim("add"),
    operator.sub: _prim("sub"),
    operator.mul: _prim("mul"),
    operator.floordiv: _prim("floordiv"),
    operator.truediv: _prim("truediv"),
    operator.mod: _prim("mod"),
    operator.neg: _prim("neg"),
    operator.gt: _prim("gt"),
    operator.lt: _prim("lt"),
    operator.ge: _prim("ge"),
    operator.le: _prim("le"),
    operator.eq: _prim("eq"),
    math.ceil: _prim("ceil"),
    math.trunc: _prim("trunc"),
    builtins.round: _prim("round"),
    torch.sym_float: _prim("sym_float"),
    torch.sym_int: _prim("sym_int"),
    torch.sym_max: _prim("sym_max"),
    torch.sym_min: _prim("sym_min"),
    torch.sym_not: _prim("sym_not"),
    torch.sym_ite: _prim("sym_ite"),
}
# Scalar operations torch.export may write that the runtime has no operator for.
UNSUPPORTED_SYM_OPS = frozenset(
    {operator.pow, operator.ne, operator.and_, operator.or_, operator.abs, math.floor}
)
_EXECUTORCH_SYM_OPS = frozenset(_PYTHON_SYM_OPS_TO_EXECUTORCH_SYM_OPS.values()) | {
    torch.ops.aten.sym_size.int,
    torch.ops.aten.sym_numel.default,
    torch.ops.aten._local_scalar_dense.default,
}


def is_sym_op(target: Any) -> bool:
    """True for an operator that the runtime's core carries out on scalars."""
    return target in _EXECUTORCH_SYM_OPS
