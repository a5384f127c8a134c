# SPDX-License-Identifier: BSD-3-Clause
"""Numbers from symbolic sizes: the hint, the upper bound that the ranges give, the free symbols."""

from collections.abc import Iterable

import sympy
import torch
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
    node = symint.node
    shape_env = node.shape_env
    expr = shape_env.simplify(node.expr) if hasattr(shape_env, "simplify") else node.expr
    return bound_sympy(expr, shape_env.var_to_range)


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
