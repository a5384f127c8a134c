# SPDX-License-Identifier: BSD-3-Clause
"""Runs generated calls of every operator and compares the results with eager PyTorch's; tells how many were compared:

python -m kernels.test.differential --library portable
"""

from __future__ import annotations

import argparse
import os
import statistics
import sys
import warnings
import zlib
from collections.abc import Callable
from dataclasses import dataclass, field
from functools import cache
from types import ModuleType
from typing import Any, Literal

import torch

from executorch.codegen.schema import Schema
from executorch.exir.operator.facts import operator_facts
from kernels.test.bounds import allowance, rule_of
from kernels.test.call_generator import LEFT_OUT, eager
from kernels.test.exact import exact_results, rounded, widened
from kernels.test.fitting_calls import calls_of
from kernels.test.kernel_call import Call, functional_of, is_dense, load_library, load_schemas
from kernels.test.known_differences import (
    Known,
    NotFinite,
    arguments_of,
    first_dtype,
    known,
    open_elements,
)

Spoil = Callable[[torch.Tensor], torch.Tensor]
# Results that are compared with eager's, at least, for each operator and library; and rounds of calls, at most.
LEAST, _ROUNDS = 100, 12
# Numbers of 16 bits, at least, that tell the share of those that are rounded as they should be.
ENOUGH_HALVES = 20


@cache
def library(name: str) -> ModuleType:
    return load_library(name)


@cache
def schemas() -> dict[str, Schema]:
    return load_schemas()


def _same(found: torch.Tensor, wanted: torch.Tensor) -> torch.Tensor:
    """Where both are one number, or NaN."""
    return (found == wanted) | (found.isnan() & wanted.isnan())


def equal(found: torch.Tensor, wanted: torch.Tensor) -> bool:
    return found.shape == wanted.shape and bool(_same(found, wanted).all())


def _is_undefined(values: list[Any]) -> bool:
    """Whether infinity or NaN is to become an integer, which C++ leaves open."""
    to_integers = any(
        isinstance(v, torch.dtype) and not v.is_floating_point and not v.is_complex for v in values
    )
    tensors = [v for v in values if isinstance(v, torch.Tensor) and v.dtype.is_floating_point]
    return to_integers and any(not bool(v.isfinite().all()) for v in tensors)


def _is_optional(op: str, values: list[Any], expected: tuple[torch.Tensor, ...]) -> bool:
    """Whether a kernel may refuse the call: most complex numbers, and dtypes that kernels do not have."""
    if any(t.dtype == torch.complex32 for t in expected):
        return True
    to_real = any(isinstance(v, torch.dtype) and not v.is_complex for v in values)
    return _has_complex(values) and (to_real or operator_facts()[op].complex is not True)


def _has_complex(values: list[Any]) -> bool:
    flat = [v for value in values for v in (value if isinstance(value, list) else [value])]
    types = [v.dtype if isinstance(v, torch.Tensor) else v for v in flat]
    return any(isinstance(t, torch.dtype) and t.is_complex for t in types)


def _misfit(like: torch.Tensor) -> torch.Tensor:
    """A tensor that is too small for a result like this; too large, where nothing is smaller."""
    shape = list(like.shape) or [2]
    shape[0] = 2 if not like.shape else shape[0] - 1 if shape[0] > 0 else 1
    return torch.empty(shape, dtype=like.dtype)


@dataclass(frozen=True)
class Halves:
    """Numbers of 16 bits that were compared, and those that equal the rounded exact one."""

    numbers: int = 0
    equal: int = 0

    @staticmethod
    def of(found: torch.Tensor, target: torch.Tensor) -> Halves:
        if found.dtype not in (torch.float16, torch.bfloat16):
            return Halves()
        return Halves(found.numel(), int(_same(found, target).sum()))

    def __add__(self, other: Halves) -> Halves:
        return Halves(self.numbers + other.numbers, self.equal + other.equal)


@dataclass(frozen=True)
class Outcome:
    """What came of a call: what it was compared with, what is wrong, if anything, and rows without which more were."""

    against: Literal["nothing", "a refusal", "results"] = "nothing"
    problem: str | None = None
    opened: tuple[NotFinite, ...] = ()
    halves: Halves = Halves()


def outcome_of(
    module: ModuleType,
    schema: Schema,
    values: list[Any],
    outputs: str = "static",
    spoil: Spoil | None = None,
) -> Outcome:
    """Runs a call. What eager refuses may not succeed, unless eager has merely no kernel for the dtype. Outputs are
    "static", "dynamic" (with room to spare) or "misfit", which must fail."""
    if _is_undefined(values):
        return Outcome()
    try:
        expected, refused = eager(schema, values), None
    except NotImplementedError:
        return Outcome()
    except (RuntimeError, IndexError, ValueError, TypeError, OverflowError) as error:
        refused = str(error).splitlines()[0]
        if "not implemented for" in refused or "not supported" in refused:
            return Outcome()
        first = next((v for v in values if isinstance(v, torch.Tensor)), torch.zeros(2))
        expected = tuple(first for a in schema.arguments if a.is_written)
    updated = [v for a, v in zip(schema.arguments, values, strict=False) if a.is_written]
    given = [
        v.clone() if a.is_written else v for a, v in zip(schema.arguments, values, strict=False)
    ]
    made = expected[: len(expected) - len(updated)]
    made = tuple(t if is_dense(t) else t.contiguous() for t in made)
    outputs = outputs if made else "static"
    call = Call(module, schema, dynamic=outputs == "dynamic")
    for argument, value in zip(schema.arguments, values, strict=False):
        call.add_input(argument, value)
    if any(a.is_out for a in schema.arguments):
        call.add_outputs((_misfit(made[0]), *made[1:]) if outputs == "misfit" else made)
    failed = call.run() != 0
    if refused is not None or outputs == "misfit":
        reason = f"eager: {refused[:120]}" if refused is not None else "into an output that misfits"
        return Outcome("a refusal", None if failed else f"succeeds, {reason}")
    if failed and _is_optional(schema.qualified_name, values, expected):
        return Outcome()
    if failed:
        return Outcome("results", "fails, eager does not")
    found = [*call.results(), *updated]
    return compared(schema, given, [spoil(t) for t in found] if spoil else found, expected)


def compared(
    schema: Schema,
    values: list[Any],
    found: list[torch.Tensor],
    expected: tuple[torch.Tensor, ...],
) -> Outcome:
    """Results beside the exact ones; `values` as they were before the call, `expected` is eager's."""
    given = arguments_of(schema, values)
    if schema.name in ("sort", "topk") and not given.get("stable"):
        return Outcome("results", _tie_difference(given, found, expected))
    exact = exact_results(schema, values, expected)
    opened: list[NotFinite] = []
    halves = Halves()
    for position, (one, wanted) in enumerate(zip(found, expected, strict=True)):
        if one.shape != wanted.shape:
            return Outcome("results", f"differs: {brief(one)} against {brief(wanted)}")
        target = _target(exact[position], wanted)
        wrong = ~_near(schema, values, position, exact[position], one, target)
        for row, places in open_elements(schema, values, one, wanted):
            if bool((wrong & places).any()):
                opened.append(row)
                wrong &= ~places
        if bool(wrong.any()):
            place = tuple(wrong.nonzero()[0].tolist())
            text = f"{list(wanted.shape)}: {one[place]} against {target[place]}"
            return Outcome("results", f"differs at {place} of {text}", tuple(opened))
        halves += Halves.of(one, target)
    return Outcome("results", opened=tuple(opened), halves=halves)


def _target(exact: torch.Tensor, wanted: torch.Tensor) -> torch.Tensor:
    """The exact result, rounded; eager's where that is no number, as float64 overflows later."""
    target = rounded(exact, wanted.dtype)
    return torch.where(wanted.isfinite() & target.isfinite(), target, wanted)


def _near(
    schema: Schema,
    values: list[Any],
    position: int,
    exact: torch.Tensor,
    found: torch.Tensor,
    target: torch.Tensor,
) -> torch.Tensor:
    """Where a result is as near to the exact one as bounds.py asks for."""
    same = _same(found, target)
    if bool(same.all()) or not (found.dtype.is_floating_point or found.dtype.is_complex):
        return same
    allowed = allowance(schema, values, position, exact, found.dtype)
    return same | ((widened(found) - widened(target)).abs() <= allowed)


def _tie_difference(
    given: dict[str, Any], found: list[torch.Tensor], expected: tuple[torch.Tensor, ...]
) -> str | None:
    """Equal elements have any order: the values must be eager's, at the positions that are told."""
    x, dim = given["self"], given["dim"]
    if found[0].numel() == 0:
        return None if found[0].shape == expected[0].shape else "has another shape"
    if not given.get("sorted", True):  # topk
        expected = (expected[0].sort(dim, descending=given["largest"]).values,)
    gathered = x.gather(dim, found[1])
    if not equal(found[0], expected[0]) or not equal(gathered, found[0]):
        return f"differs: {brief(found[0])} against {brief(expected[0])}"
    return None


def brief(value: Any) -> str:
    if isinstance(value, torch.Tensor):
        data = value.flatten()[:6].tolist()
        return f"{str(value.dtype)[6:]}{list(value.shape)}{data}"
    if isinstance(value, list):
        return "[" + ", ".join(brief(v) for v in value) + "]"
    return str(value)


@dataclass
class Tally:
    """Calls of an operator, those whose results were compared with eager's, rows that explained a difference with the
    dtype of each, and what was wrong."""

    calls: int = 0
    compared: int = 0
    halves: Halves = Halves()
    known: set[tuple[Known | NotFinite, torch.dtype | None]] = field(default_factory=set)
    failures: list[str] = field(default_factory=list)


@cache
def tally(name: str, op: str, step: int) -> Tally:
    """Runs every `step`-th call, in rounds until LEAST / `step` results have been compared."""
    schema, seen = schemas()[op], Tally()
    for round_number in range(_ROUNDS):
        for number, values in enumerate(calls_of(schema, round_number)):
            place = number + zlib.crc32(op.encode())
            if place % step:
                continue
            outputs = ("static", "dynamic", "static", "misfit")[place // step % 4]
            outcome = outcome_of(library(name), schema, values, outputs)
            seen.calls += 1
            seen.compared += outcome.against == "results"
            seen.halves += outcome.halves
            dtype = first_dtype(arguments_of(schema, values))
            seen.known |= {(row, dtype) for row in outcome.opened}
            if outcome.problem is None:
                continue
            row = known(schema, values, outcome.problem)
            if row is not None:
                seen.known.add((row, dtype))
            else:
                arguments = ", ".join(brief(v) for v in values)
                seen.failures.append(f"{op}({arguments}): {outcome.problem}")
        if seen.compared * step >= LEAST:
            break
    share = rule_of(schema).rounded
    if seen.halves.numbers >= ENOUGH_HALVES and seen.halves.equal < share * seen.halves.numbers:
        seen.failures.append(
            f"{op}: {seen.halves.equal} of {seen.halves.numbers} numbers of 16 bits are the exact ones, rounded;"
            f" expected {share:.0%}"
        )
    return seen


def _has_reference(schema: Schema) -> bool:
    """Some out-variants have no functional form with the same arguments; cases/ has those."""
    try:
        return schema.name.endswith("_") or functional_of(schema) is not None
    except (LookupError, AttributeError):
        return False


OPS = sorted(n for n, s in load_schemas().items() if n not in LEFT_OUT and _has_reference(s))


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--library", default="portable", choices=["portable", "optimized"])
    parser.add_argument("--step", type=int, default=1, help="run one call in so many")
    parser.add_argument("ops", nargs="*", help="such as aten::add.out; all, when left out")
    options = parser.parse_args()
    os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stderr.fileno())  # refused calls tell why
    warnings.simplefilter("ignore")
    tallies = {op: tally(options.library, op, options.step) for op in options.ops or OPS}
    for op, seen in sorted(tallies.items(), key=lambda item: item[1].compared):
        print(f"{seen.compared:5} of {seen.calls:5}  {op}  {len(seen.failures)} wrong")
        for failure in seen.failures[:3]:
            print(f"      {failure}")
    compared = [seen.compared for seen in tallies.values()]
    print(
        f"{options.library}: {len(tallies)} operators; results compared: smallest {min(compared)},"
    )
    print(f"median {statistics.median(compared):g}, in all {sum(compared)}")
    met = {row for seen in tallies.values() for row, _ in seen.known}
    print(f"rows of known differences met: {len(met)}")
    return 1 if any(seen.failures for seen in tallies.values()) else 0


if __name__ == "__main__":
    sys.exit(main())
