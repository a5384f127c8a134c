# SPDX-License-Identifier: BSD-3-Clause
"""Operators that first give infinities or NaN, which a comparison with the model does not find: in half precision the
model overflows, too. Each operator is computed once more in float64, from the operands that the device had."""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import torch
from torch.export import ExportedProgram
from torch.fx import GraphModule, Interpreter, Node
from torch.utils import _pytree as pytree

from executorch.devtools.commands import given
from executorch.devtools.commands.output.words import is_or_are, number_of
from executorch.devtools.commands.probe import Found
from executorch.devtools.commands.reference import (
    COARSE,
    COND,
    HALVES,
    by_nodes,
    distance,
    nodes_of,
    value_pairs,
)

NEXT_STEP = "compute it in float32 (x.float() before it, .half() after), export in bfloat16, or scale its operands"
OVERFLOW, INFINITY, NAN = "overflow", "infinity", "NaN"
SATURATED, UNDERFLOW = "saturation", "underflow"
OF_TYPES = (OVERFLOW, SATURATED, UNDERFLOW)  # which another type has not


@dataclass(frozen=True)
class Broken:
    """`kind`: OVERFLOW where float64 has a number, INFINITY where it has none although the operands are finite, NAN
    where no operand is one; of half precision SATURATED where a number is the type's last and float64 has a larger one,
    UNDERFLOW where 0 stands for numbers. `count` of `total` elements; `largest`: what float64 reaches."""

    node: Node
    source: Node
    found: Found
    kind: str
    count: int
    total: int
    largest: float
    dtype: torch.dtype

    def __str__(self) -> str:
        elements = f"{self.count:,} of {number_of(self.total, 'element')}"
        are = f"{elements} {is_or_are(self.count)}"
        if self.kind == NAN:
            return f"{are} NaN, where no operand is"
        if self.kind == INFINITY:
            return f"{are} infinite, in float64 as well"
        name, end = str(self.dtype).removeprefix("torch."), torch.finfo(self.dtype).max
        if self.kind == UNDERFLOW:
            return (
                f"{are} 0: in float64 they reach {self.largest:.3g}, the least of "
                f"{name} is {torch.finfo(self.dtype).smallest_normal * torch.finfo(self.dtype).eps:.3g}"
            )
        if self.kind == SATURATED:
            stop = "stops" if self.count == 1 else "stop"
            return (
                f"{elements} {stop} at {end:.5g}, where {name} ends: in float64 they reach "
                f"{self.largest:.3g}"
            )
        return (
            f"{are} infinite or NaN: in float64 they reach {self.largest:.3g}, "
            f"{name} ends at {end:.5g}"
        )


def broken_values(
    program: ExportedProgram,
    inputs: Sequence[Any],
    found: Sequence[tuple[tuple[int, ...], Found]],
) -> list[Broken]:
    """Of the values found, by handles, in the order of the program. What only passes on what it was given is none."""
    if not any(has_infinite(each.values) or _has_halves(each.values) for _, each in found):
        return []
    module = program.module(check_guards=False)
    place = {node: index for index, node in enumerate(nodes_of(module))}
    run = _Wide(module, by_nodes(place, found))
    with torch.no_grad():
        run.run(*given.copies(inputs))
    return run.broken


def leaves_exact(program: ExportedProgram, inputs: Sequence[Any], outputs: Sequence[Any]) -> bool:
    """Whether outputs of a run are far from what the model gives in float64: infinite where that is a number, or off by
    more than half precision explains."""
    with torch.no_grad():
        exact = pytree.tree_leaves(
            _Wide(program.module(check_guards=False), {}).run(*given.copies(inputs))
        )
    return any(
        distance(_wide(found), one.reshape(found.shape)) > COARSE
        for found, one in zip(outputs, exact)
        if _is_float(found) and isinstance(one, torch.Tensor) and one.numel() == found.numel()
    )


def has_infinite(values: Sequence[Any]) -> bool:
    return any(_is_float(value) and not bool(value.isfinite().all()) for value in values)


def _has_halves(values: Sequence[Any]) -> bool:
    return any(_is_float(value) and value.dtype in HALVES for value in values)


def _is_float(value: Any) -> bool:
    return isinstance(value, torch.Tensor) and value.is_floating_point()


def _wide(value: Any) -> Any:
    return value.to(torch.float64) if _is_float(value) else value


class _Wide(Interpreter):
    """Numbers are float64; where a device's value was found it goes on with that."""

    def __init__(self, module: GraphModule, found: Mapping[Node, tuple[Found, list[Node]]]) -> None:
        super().__init__(module)
        self._found = found
        self.broken: list[Broken] = []

    def run(self, *args: Any, **kwargs: Any) -> Any:
        return super().run(*pytree.tree_map(_wide, args), **kwargs)

    def get_attr(self, target: Any, args: Any, kwargs: Any) -> Any:
        return _wide(super().get_attr(target, args, kwargs))

    def call_function(self, target: Any, args: Any, kwargs: Any) -> Any:
        if target is COND:
            condition, yes, no, operands = args
            branch = _Wide(yes if condition else no, self._found)
            branch.broken = self.broken
            return branch.run(*operands)
        wide = {
            name: torch.float64 if name == "dtype" and _is_narrow(value) else value
            for name, value in kwargs.items()
        }
        return super().call_function(target, args, wide)

    def run_node(self, n: Node) -> Any:
        try:
            result = pytree.tree_map(_wide, super().run_node(n))
        except (RuntimeError, TypeError):  # an operator of certain types, such as a quantizing one
            result = pytree.tree_map(_wide, self._as_traced(n))
        if n not in self._found:
            return result
        each, joined = self._found[n]
        is_one = not isinstance(result, (list, tuple))
        listed = [result] if is_one else list(result)
        expected = [value for value in listed if isinstance(value, torch.Tensor)]
        source = next((one for one in reversed(joined) if one.meta.get("stack_trace")), n)
        for index, value, exact in value_pairs(n, each, expected):
            kind, wrong = self._judge(n, value, exact)
            if kind is not None:
                finite = (
                    exact[wrong & exact.isfinite()]
                    if kind == UNDERFLOW
                    else exact[exact.isfinite()]
                )
                largest = float(finite.abs().max()) if finite.numel() else math.inf
                counts = int(wrong.sum()), wrong.numel()
                self.broken.append(Broken(n, source, each, kind, *counts, largest, value.dtype))
            listed[index] = _wide(value)
        return listed[0] if is_one else listed

    def _as_traced(self, node: Node) -> Any:
        """With operands of the types that the program says."""
        args, kwargs = self.fetch_args_kwargs_from_env(node)
        types = iter(
            [
                leaf.meta.get("val") if isinstance(leaf, Node) else None
                for leaf in pytree.tree_leaves((node.args, node.kwargs))
            ]
        )
        given = pytree.tree_map(lambda value: _narrowed(value, next(types)), (args, kwargs))
        return super().call_function(node.target, *given)

    def _judge(
        self, node: Node, value: torch.Tensor, exact: torch.Tensor
    ) -> tuple[str | None, torch.Tensor]:
        infinite = ~value.isfinite()
        if not _is_float(value) or not bool(infinite.any()):
            return _of_halves(value, exact) if value.dtype in HALVES else (None, infinite)
        over = infinite & exact.isfinite()
        if bool(over.any()):
            return OVERFLOW, over
        operands = [self.env[each] for each in node.all_input_nodes if each in self.env]
        floats = [leaf for leaf in pytree.tree_leaves(operands) if _is_float(leaf)]
        nan = value.isnan()
        if bool(nan.any()) and not any(bool(leaf.isnan().any()) for leaf in floats):
            return NAN, nan
        scalars = [leaf for leaf in pytree.tree_leaves(node.args) if isinstance(leaf, float)]
        is_mask = any(not math.isfinite(scalar) for scalar in scalars)
        if bool(nan.any()) or is_mask or has_infinite(floats):
            return None, infinite
        return INFINITY, infinite


def _of_halves(value: torch.Tensor, exact: torch.Tensor) -> tuple[str | None, torch.Tensor]:
    """Of finite values. Numbers that vanish count where the result is not what it was without them."""
    end = torch.finfo(value.dtype).max
    at_end = (value.abs() >= end) & (exact.abs() > (1 + COARSE) * end)
    if bool(at_end.any()):
        return SATURATED, at_end
    gone = (value == 0) & (exact != 0)
    if float(exact[gone].norm()) > COARSE * float(exact.norm()):
        return UNDERFLOW, gone
    return None, gone


def _is_narrow(value: Any) -> bool:
    return isinstance(value, torch.dtype) and value.is_floating_point


def _narrowed(value: Any, traced: Any) -> Any:
    if _is_float(value) and isinstance(traced, torch.Tensor):
        return value.to(traced.dtype)
    return value
