# SPDX-License-Identifier: BSD-3-Clause
"""Numbers from symbolic sizes: the hint, the upper bound that the ranges give, the free symbols."""

import functools
import math
from collections.abc import Iterable, Mapping
from typing import Any

import sympy
import torch
from torch.utils._sympy.functions import FloorDiv, Mod, PythonMod
from torch.utils._sympy.numbers import int_oo
from torch.utils._sympy.value_ranges import ValueRanges, bound_sympy

from executorch.exir.error import ExportError, ExportErrorType

# torch.export stands this in for "no bound given".
_UNBOUNDED = frozenset({sympy.oo, int_oo})
_NO_BOUND = 2**63 - 2  # what torch takes for the largest size


def eval_expr(symint: int | torch.SymInt) -> int | None:
    """The value the program was traced with; None when the size depends on data."""
    if isinstance(symint, int):
        return symint
    hint = symint.node.maybe_as_int()
    if hint is not None:
        return hint
    return symint.node.hint if symint.node.has_hint() else None


LARGEST_SIZE = 2**31 - 1  # in a file


def upper_bound_or_none(maybe_symint: int | torch.SymInt) -> int | None:
    """The largest value the ranges allow, or None when it has no bound a file can hold."""
    bound = any_upper_bound(maybe_symint)
    return None if bound is not None and bound > LARGEST_SIZE else bound


def any_upper_bound(maybe_symint: int | torch.SymInt) -> int | None:
    """The largest value the ranges allow, also one that no file can hold; None when they allow all."""
    if isinstance(maybe_symint, int):
        return maybe_symint
    constant = maybe_symint.node.maybe_as_int()
    if constant is not None:
        return constant
    upper = _range(maybe_symint).upper
    if upper in _UNBOUNDED or not upper.is_number or int(upper) >= _NO_BOUND:
        return None
    return int(upper)


def never_negative(maybe_symint: int | torch.SymInt) -> bool:
    """The ranges allow no value below 0."""
    if isinstance(maybe_symint, int):
        return maybe_symint >= 0
    return bool(_range(maybe_symint).lower >= 0)


def _range(symint: torch.SymInt) -> ValueRanges[sympy.Expr]:
    return bound_sympy(*in_multiples(symint, symint.node.shape_env.var_to_range))


def in_multiples(
    symint: torch.SymInt, ranges: Mapping[sympy.Symbol, ValueRanges]
) -> tuple[sympy.Expr, dict[sympy.Symbol, ValueRanges]]:
    """The expression of a size and the ranges of its symbols. A symbol that the export found to be a multiple of c is
    c * k there: `view(-1, 8, 3)` has s // (s // 8) rows, which is 8."""
    shape_env = symint.node.shape_env
    expr = (
        shape_env.simplify(symint.node.expr) if hasattr(shape_env, "simplify") else symint.node.expr
    )
    found = {symbol: ranges[symbol] for symbol in expr.free_symbols if symbol in ranges}
    guards = getattr(shape_env, "guards", ())
    steps = _divisors(tuple(guard.expr for guard in guards)) if guards else {}
    for symbol in found.keys() & steps.keys():
        step, values = steps[symbol], found.pop(symbol)
        multiple = sympy.Symbol(f"{symbol}_{step}", integer=True, positive=True)
        expr = expr.xreplace({symbol: step * multiple})
        upper = values.upper if values.upper in _UNBOUNDED else values.upper // step
        found[multiple] = ValueRanges(-(-values.lower // step), upper)
    return expr, found


@functools.lru_cache(maxsize=8)
def _divisors(guards: tuple[Any, ...]) -> dict[sympy.Symbol, int]:
    """Symbols that must be multiples of a number: by Mod(a s, m) = 0, or a s = b (s // c) where a c = b."""
    steps: dict[sympy.Symbol, int] = {}
    for guard in guards:
        if not isinstance(guard, sympy.Eq):
            continue
        for one, other in ((guard.lhs, guard.rhs), (guard.rhs, guard.lhs)):
            factor, symbol = (
                one.args[0].as_coeff_Mul()
                if isinstance(one, Mod | PythonMod)
                else one.as_coeff_Mul()
            )
            step = 1
            if not (symbol.is_Symbol and factor.is_Integer):
                continue
            if isinstance(one, Mod | PythonMod) and other == 0 and one.args[1].is_Integer:
                step = int(one.args[1]) // math.gcd(int(factor), int(one.args[1]))
            elif not isinstance(one, Mod | PythonMod):
                times, quotient = other.as_coeff_Mul()
                if isinstance(quotient, FloorDiv) and quotient.args[0] == symbol:
                    divisor = quotient.args[1]
                    step = int(divisor) if divisor.is_Integer and factor * divisor == times else 1
            steps[symbol] = math.lcm(steps.get(symbol, 1), step)
    return {symbol: step for symbol, step in steps.items() if step > 1}


def eval_upper_bound(maybe_symint: int | torch.SymInt) -> int:
    upper = upper_bound_or_none(maybe_symint)
    if upper is None:
        raise ExportError(
            ExportErrorType.NOT_SUPPORTED,
            f"size {maybe_symint} has no upper bound; give one: torch.export.Dim(name, max=...) for an input's "
            "dimension (or EdgeCompileConfig(max_dynamic_size=...) for all of them), torch._check(size <= ...) for a "
            "size that depends on data",
        )
    return upper


def eval_shape(shape: Iterable[int | torch.SymInt]) -> list[int | None]:
    return [eval_expr(size) for size in shape]


def eval_shape_upper_bound(shape: Iterable[int | torch.SymInt]) -> list[int]:
    return [eval_upper_bound(size) for size in shape]


def collect_free_symbols(shape: Iterable[int | torch.SymInt]) -> set[sympy.Symbol]:
    return {
        symbol
        for size in shape
        if isinstance(size, torch.SymInt)
        for symbol in size.node.expr.free_symbols
    }


def surely_equal(a: int | torch.SymInt, b: int | torch.SymInt) -> bool:
    """Equal for all values of the symbols. (`==` would make the shape environment guess, and specialise.)"""
    if isinstance(a, int) and isinstance(b, int):
        return a == b
    if isinstance(a, torch.SymInt) and isinstance(b, torch.SymInt):
        return a.node.expr == b.node.expr
    return False
