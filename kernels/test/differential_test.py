# SPDX-License-Identifier: BSD-3-Clause
"""Generated calls of every operator: the kernel equals eager PyTorch, and fails where eager fails."""

from __future__ import annotations

import warnings
import zlib
from typing import Any

import pytest
import torch

from executorch.codegen.schema import Schema
from executorch.exir.operator.facts import operator_facts
from kernels.test.bounds import RULES
from kernels.test.call_generator import Drawer, Start, eager, starts
from kernels.test.differential import (
    LEAST,
    OPS,
    brief,
    compared,
    equal,
    library,
    outcome_of,
    schemas,
    tally,
)
from kernels.test.exact import rounded, spacing
from kernels.test.fitting_calls import calls_of
from kernels.test.kernel_call import Call
from kernels.test.known_differences import KNOWN, NOT_FINITE, Known, NotFinite, known
from kernels.test.spoiled import SPOILS, Spoil, noticed


def names(kind: str, names: str) -> set[str]:
    return {f"aten::{name}.{kind}" for name in names.split()}


UNARY = (
    "acos acosh asin asinh atan atanh cos cosh exp expm1 log log10 log1p log2 reciprocal rsqrt"
    " sigmoid sin sinh sqrt tan tanh neg"
)
# What may write over its first argument: each element depends on the element at its own place.
IN_PLACE = sorted(
    names("out", f"{UNARY} abs ceil floor round trunc sign relu erf logical_not bitwise_not clamp")
    | names("out", "add sub mul div maximum minimum atan2 hardtanh leaky_relu elu hypot")
    | names("Scalar_out", "add sub mul div eq ne lt le gt ge remainder fmod pow")
    | names("Tensor_out", "eq ne lt le gt ge remainder fmod bitwise_and bitwise_or bitwise_xor")
    | {"aten::pow.Tensor_Scalar_out", "aten::pow.Tensor_Tensor_out", "aten::where.self_out"}
)


def copied(values: list[Any]) -> list[Any]:
    return [v.clone() if isinstance(v, torch.Tensor) else v for v in values]


def check(name: str, op: str, step: int) -> None:
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        seen = tally(name, op, step)
    failures = seen.failures
    assert not failures, f"{len(failures)} of {seen.calls}:\n" + "\n".join(failures[:8])
    assert seen.compared * step >= LEAST, f"{seen.compared} of {seen.calls} calls were compared"


def test_operators_that_exporting_refuses_for_complex_numbers() -> None:
    """Kernels of rows with `complex: false` take no call with complex numbers."""
    calls = 0
    for op in [op for op in OPS if operator_facts()[op].complex is False]:
        for values in calls_of(schemas()[op], 0):
            if any(isinstance(v, torch.Tensor) and v.is_complex() for v in values):
                outcome = outcome_of(library("portable"), schemas()[op], values)
                assert outcome.against != "results", f"{op}({', '.join(map(brief, values))})"
                calls += 1
    assert calls > 50


@pytest.mark.parametrize("name", ["portable", "optimized"])
@pytest.mark.parametrize("op", OPS)
def test_a_sample_of_calls(name: str, op: str) -> None:
    check(name, op, step=9)


@pytest.mark.full
@pytest.mark.parametrize("name", ["portable", "optimized"])
@pytest.mark.parametrize("op", OPS)
def test_all_calls(name: str, op: str) -> None:
    check(name, op, step=1)


@pytest.mark.parametrize("name", ["portable", "optimized"])
@pytest.mark.parametrize("op", [op for op in IN_PLACE if op in OPS])
def test_an_output_may_be_the_first_input(name: str, op: str) -> None:
    """Calls whose result has the first tensor's dtype, shape and layout write over it."""
    schema, done = schemas()[op], 0
    place = next(i for i, a in enumerate(schema.arguments) if a.type == "Tensor")
    place = 1 if op == "aten::where.self_out" else place
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        for start in starts():
            values = Drawer(zlib.crc32(f"{op}/{start}".encode()), start).values(schema)
            first, given = values[place], copied(values)
            try:
                (expected,) = eager(schema, values)
            except (RuntimeError, NotImplementedError, TypeError, OverflowError):
                continue
            refused = known(schema, values, "fails") is not None
            fits = expected.dtype == first.dtype and expected.shape == first.shape and not refused
            if not fits or expected.stride() != first.stride() or first.dtype.is_complex:
                continue
            call = Call(library(name), schema)
            for argument, value in zip(schema.arguments, values, strict=False):
                call.add_input(argument, value)
            call.items.append(("tensor", call.view_of(first)))
            assert call.run() == 0, [brief(v) for v in values]
            problem = compared(schema, given, [first], (expected,)).problem
            assert problem is None, (problem, [brief(v) for v in given])
            done += 1
    assert done > 10


@pytest.mark.full
@pytest.mark.parametrize("row", [*KNOWN, *NOT_FINITE], ids=str)
def test_a_known_difference_is_still_there(row: Known | NotFinite) -> None:
    """A row explains a difference of each of its operators and dtypes; what it does not explain any more goes."""
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        met = {
            (op, dtype)
            for op in row.ops.split()
            for name in ("portable", "optimized")
            for step in (1, 9)
            for one, dtype in tally(name, f"aten::{op}", step).known
            if one is row
        }
    assert {op for op, _ in met} == set(row.ops.split())
    assert {dtype for _, dtype in met} == set(row.dtypes)


def missed(ops: list[str], spoil: Spoil) -> list[str]:
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        return [op for op in ops if noticed("portable", schemas()[op], spoil) is False]


@pytest.mark.parametrize("spoil", SPOILS, ids=lambda spoil: spoil.about)
def test_a_result_that_is_a_little_off_is_noticed(spoil: Spoil) -> None:
    """In every ninth operator, among them moves, sums, norms and functions."""
    assert missed(OPS[::9], spoil) == []


@pytest.mark.full
@pytest.mark.parametrize("spoil", SPOILS, ids=lambda spoil: spoil.about)
def test_a_result_that_is_a_little_off_is_noticed_in_every_operator(spoil: Spoil) -> None:
    assert missed(OPS, spoil) == []


def test_bounds_name_operators_that_there_are() -> None:
    known_names = {schema.name for schema in schemas().values()}
    known_names |= {op.split("::")[1] for op in schemas()}
    unknown = {op for rule in RULES for op in rule.ops.split()} - known_names
    assert unknown == set()
    assert all(rule.why for rule in RULES)


def test_rounding_once_is_not_rounding_twice() -> None:
    """1 + 2^-8 is halfway between two numbers of bfloat16: 2^-40 more and it goes up, but not through float32."""
    exact = torch.tensor(
        [1 + 2**-8 + 2**-40, 1 + 2**-8, 1 + 3 * 2**-8, 1e300, float("inf"), -(2.0**-134)],
        dtype=torch.float64,
    )
    wanted = [1 + 2**-7, 1.0, 1 + 2**-6, float("inf"), float("inf"), -0.0]
    assert rounded(exact, torch.bfloat16).tolist() == wanted
    assert exact[:1].to(torch.bfloat16).item() == 1.0, "Tensor.to rounds once by now: use it"
    assert spacing(torch.tensor([1.0, 1.99, 2.0, 0.0], dtype=torch.float64), torch.float16).tolist() == [
        2**-10, 2**-10, 2**-9, 2**-24,
    ]  # fmt: skip


def test_there_are_twenty_thousand_calls_for_a_library() -> None:
    assert len(OPS) * len(list(starts())) > 20_000


def test_a_wrong_kernel_is_found() -> None:
    schema = schemas()["aten::sub.out"]
    values = Drawer(1, Start(torch.float32, (5,), "rows")).values(schema)
    values[2] = 1
    wrong = Schema("aten", "add", "out", schema.arguments, schema.returns)
    values[1] = torch.ones(5)
    call = Call(library("portable"), schema)
    for argument, value in zip(schema.arguments, values, strict=False):
        call.add_input(argument, value)
    call.add_outputs(eager(wrong, values))
    assert call.run() == 0
    assert not equal(call.results()[0], eager(wrong, values)[0])
