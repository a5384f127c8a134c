# SPDX-License-Identifier: BSD-3-Clause
"""Kernels of each library against eager PyTorch: dtype, shape and values, for static and dynamic outputs."""

from __future__ import annotations

import math
import re
import time
from functools import cache
from pathlib import Path
from types import ModuleType
from typing import Any

import pytest
import torch

from executorch.codegen.schema import Schema
from kernels.test.kernel_call import Call, functional_of, load_library, load_schemas
from kernels.test.op_case import Case, Input
from kernels.test.op_cases import CASES

LIBRARIES = ["portable", "optimized"]
# Outputs without defined content.
NO_VALUES = {
    "aten::empty.out",
    "dim_order_ops::_empty_dim_order.out",
    "aten::rand.out",
    "aten::randn.out",
}


@cache
def library(name: str) -> ModuleType:
    return load_library(name)


@cache
def schemas() -> dict[str, Schema]:
    return load_schemas()


def make(value: Any, seed: int) -> Any:
    """Tensors for Inputs, in lists too."""
    if isinstance(value, Input):
        return value.make(seed)
    if isinstance(value, list):
        return [make(v, seed + 1 + i) for i, v in enumerate(value)]
    return value


def bind(case: Case, schema: Schema) -> list[Any]:
    """Values of all inputs in the schema's order; defaults come from the registered out-variant."""
    inputs = [a for a in schema.arguments if not a.is_out]
    values = [make(v, 17 * i) for i, v in enumerate(case.args)]
    defaults = {}
    if schema.namespace == "aten":
        packet = getattr(torch.ops.aten, schema.name)
        overload = getattr(packet, schema.overload or "default")
        defaults = {
            a.name: a.default_value for a in overload._schema.arguments if a.has_default_value()
        }
    for argument in inputs[len(values) :]:
        fallback = defaults.get(argument.name, False if argument.type == "bool" else None)
        values.append(make(case.kwargs.get(argument.name, fallback), 991))
    return values


def expected_results(case: Case, schema: Schema, values: list[Any]) -> tuple[torch.Tensor, ...]:
    values = [v.clone() if isinstance(v, torch.Tensor) else v for v in values]
    if case.reference is not None:
        result = case.reference(*(v for v in values if isinstance(v, torch.Tensor)))
    elif schema.name.endswith("_"):
        result = getattr(torch.ops.aten, schema.name).default(*values)
    else:
        operator = functional_of(schema)
        arguments = operator._schema.arguments
        positional = [v for a, v in zip(arguments, values, strict=True) if not a.kwarg_only]
        named = {a.name: v for a, v in zip(arguments, values, strict=True) if a.kwarg_only}
        result = operator(*positional, **named)
    return tuple(result) if isinstance(result, (tuple, list)) else (result,)


def run_case(module: ModuleType, case: Case, schema: Schema, dynamic: bool) -> None:
    values = bind(case, schema)
    expected = expected_results(case, schema, values)
    call = Call(module, schema, dynamic)
    for argument, value in zip(schema.arguments, values, strict=False):
        call.add_input(argument, value)
    in_place = schema.name.endswith("_")
    if in_place:
        results = [values[0]]
    else:
        call.add_outputs(expected)
    # Every second call has no scratch memory: programs of others bring none.
    assert call.run(has_scratch=not dynamic) == 0, "the kernel failed"
    if not in_place:
        results = call.results()
    for found, wanted in zip(results, expected, strict=True):
        assert found.dtype == wanted.dtype
        assert found.shape == wanted.shape
        rtol, atol = case.tolerance(found.dtype)
        torch.testing.assert_close(found, wanted, rtol=rtol, atol=atol, equal_nan=True)


@pytest.mark.req("KS-001", "KS-011", "KS-012")
@pytest.mark.parametrize("name", LIBRARIES)
@pytest.mark.parametrize("op", sorted({c.name for c in CASES}))
def test_kernel_equals_eager(name: str, op: str) -> None:
    failures = []
    for case in CASES:
        if case.name != op:
            continue
        for dynamic in (False, True):
            try:
                run_case(library(name), case, schemas()[op], dynamic)
            except Exception as error:  # all cases of the operator are reported at once
                kind = "dynamic" if dynamic else "static"
                failures.append(f"{case} {kind}: {type(error).__name__}: {error}")
    assert not failures, "\n".join(failures[:12])


@pytest.mark.req("KS-010")
def test_the_portable_library_is_described() -> None:
    folder = Path(__file__).resolve().parents[1] / "portable"
    text = (folder / "README.md").read_text()
    named = re.findall(r"`([a-z_/]+(?:\.\w+|/))`", text)
    assert "functions.yaml" in named
    for name in named:
        assert (folder / name).exists() or (folder / "loops" / name).exists(), name


@pytest.mark.req("KS-001")
def test_every_row_has_a_case() -> None:
    tested = {c.name for c in CASES}
    assert set(schemas()) - tested - NO_VALUES == set()


@pytest.mark.req("KS-003")
@pytest.mark.parametrize("name", LIBRARIES)
def test_library_registers_its_whole_table(name: str) -> None:
    assert set(schemas()) <= set(library(name).registered())


SQUARE, LONG = torch.randn(192, 192), torch.randn(1 << 16)
# Inputs, and the most processor time that an optimized kernel may take of the portable one's; memory bounds both sums.
TIMED = {
    "aten::mm.out": ((SQUARE, SQUARE), 0.7),
    "aten::add.out": ((LONG, LONG, 1), 1.5),
    "aten::exp.out": ((LONG,), 0.7),
}


@pytest.mark.full
@pytest.mark.req("KS-003")
@pytest.mark.parametrize("op", TIMED)
def test_the_optimized_library_works_less(op: str) -> None:
    """The least time of all threads on processors, of turns one after the other: waiting for a busy machine is no part
    of it. mm and exp take a tenth."""
    (inputs, most), calls = TIMED[op], {}
    for name in LIBRARIES:
        call = calls[name] = Call(library(name), schemas()[op])
        for argument, value in zip(schemas()[op].arguments, inputs, strict=False):
            call.add_input(argument, value)
        call.add_outputs((torch.empty_like(inputs[0]),))
    best = dict.fromkeys(LIBRARIES, math.inf)
    for _ in range(40):
        for name, call in calls.items():
            start = time.process_time()
            assert call.run() == 0
            best[name] = min(best[name], time.process_time() - start)
    torch.testing.assert_close(calls["optimized"].outputs[0], calls["portable"].outputs[0])
    assert best["optimized"] <= most * best["portable"], best


@pytest.mark.parametrize("name", LIBRARIES)
@pytest.mark.parametrize("op", ["aten::rand.out", "aten::randn.out"])
def test_random_numbers_have_their_distribution(name: str, op: str) -> None:
    module = library(name)
    for dtype in (torch.float32, torch.float64):
        call = Call(module, schemas()[op])
        call.items.append(("ints", [100, 200]))
        call.add_outputs((torch.empty(100, 200, dtype=dtype),))
        assert call.run() == 0
        values = call.results()[0].double()
        mean, deviation = (0.5, 12**-0.5) if op == "aten::rand.out" else (0.0, 1.0)
        assert abs(values.mean() - mean) < 0.03
        assert abs(values.std() - deviation) < 0.03
        assert values.unique().numel() > 15000
        if op == "aten::rand.out":
            assert values.min() >= 0 and values.max() < 1


def test_dropout_keeps_and_scales() -> None:
    module = library("portable")
    schema = schemas()["aten::native_dropout.out"]
    x = torch.ones(20000)
    call = Call(module, schema)
    for argument, value in zip(schema.arguments, [x, 0.25, True], strict=False):
        call.add_input(argument, value)
    call.add_outputs((x, x > 0))
    assert call.run() == 0
    kept, mask = call.results()
    assert abs(mask.double().mean() - 0.75) < 0.02
    torch.testing.assert_close(kept, mask.float() / 0.75)


@pytest.mark.parametrize("op", ["aten::empty.out", "dim_order_ops::_empty_dim_order.out"])
def test_empty_resizes(op: str) -> None:
    call = Call(library("portable"), schemas()[op], dynamic=True)
    call.items += [("ints", [2, 3]), ("none", None)]
    call.add_outputs((torch.empty(2, 3),))
    assert call.run() == 0
    assert call.results()[0].shape == (2, 3)


@pytest.mark.parametrize("name", LIBRARIES)
@pytest.mark.parametrize("source", [torch.float64, torch.float16, torch.int32])
@pytest.mark.parametrize("target", [torch.float32, torch.float64, torch.bfloat16])
def test_the_extreme_of_all_goes_into_any_float(
    name: str, source: torch.dtype, target: torch.dtype
) -> None:
    x = torch.tensor([1.5, -2.0, 3.0]).to(source)
    for op, wanted in (("max", x.max()), ("min", x.min())):
        call = Call(library(name), schemas()[f"aten::{op}.unary_out"])
        call.items += [("tensor", call.view_of(x))]
        call.add_outputs((wanted.to(target),))
        assert call.run() == 0
        assert call.results()[0] == wanted.to(target)


@pytest.mark.parametrize("name", LIBRARIES)
@pytest.mark.parametrize(
    ("dtype", "low", "high"),
    [
        (torch.float32, -math.inf, math.inf),
        (torch.float16, -math.inf, math.inf),
        (torch.int32, -(2**31), 2**31 - 1),
        (torch.int64, -(2**63), 2**63 - 1),
        (torch.uint8, 0, 255),
        (torch.bool, False, True),
    ],
)
def test_the_extreme_of_nothing_is_where_a_search_starts(
    name: str, dtype: torch.dtype, low: float, high: float
) -> None:
    """Eager refuses this; upstream gives the lowest number as the maximum, and the highest as the minimum."""
    for op, wanted in (("max", low), ("min", high)):
        call = Call(library(name), schemas()[f"aten::{op}.unary_out"])
        call.items += [("tensor", call.view_of(torch.empty(0, dtype=dtype)))]
        call.add_outputs((torch.zeros((), dtype=dtype),))
        assert call.run() == 0
        assert call.results()[0].item() == wanted


def test_a_wrong_result_is_found() -> None:
    case = Case("add.out", (Input((3,)), Input((3,))), reference=lambda a, b: a - b)
    with pytest.raises(AssertionError):
        run_case(library("portable"), case, schemas()["aten::add.out"], dynamic=False)
