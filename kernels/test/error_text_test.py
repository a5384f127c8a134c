# SPDX-License-Identifier: BSD-3-Clause
"""What a kernel says of a wrong call: the operator, what it expected and what it found, for every operator there is."""

from __future__ import annotations

import re
from collections.abc import Iterator
from functools import cache
from typing import Any

import pytest
import torch

from executorch.codegen.schema import Schema
from kernels.test.bad_cases import BAD_CALLS
from kernels.test.kernel_call import Call, load_library, load_schemas
from kernels.test.op_case import Case
from kernels.test.op_cases import CASES
from kernels.test.op_test import NO_VALUES, bind, expected_results
from kernels.test.op_test import make as make_input

LIBRARIES = ["portable", "optimized"]
SCHEMAS = load_schemas()
Results = tuple[torch.Tensor, ...]
WrongCall = tuple[str, list[Any], list[torch.Tensor]]


@cache
def plain_case(name: str) -> Case | None:
    """The first case whose results have elements; an operator that draws numbers has none."""
    found = (c for c in CASES if c.name == name and c.reference is None)
    return next(found, None) or next((c for c in CASES if c.name == name), None)


def wrong_values(values: list[Any], schema: Schema) -> Iterator[tuple[str, list[Any]]]:
    """The values with one of them wrong: a dtype, a rank, a dimension."""
    for place, argument in enumerate(a for a in schema.arguments if not a.is_out):
        value, name = values[place], argument.name
        others: list[tuple[str, Any]] = []
        if isinstance(value, torch.Tensor):
            cast = value.real if value.is_complex() else value
            others = [(f"dtype {d}", cast.to(d)) for d in (torch.complex64, torch.bool, torch.int8)]
            others.append(("rank", value.reshape(*[1] * 7, *value.shape)))
            others.append(("size", torch.zeros([5] * value.dim(), dtype=value.dtype)))
        elif "dim" in name and isinstance(value, int) and not isinstance(value, bool):
            others = [("value 99", 99)]
        elif "dim" in name and isinstance(value, list):
            others = [("entry 99", [99, *value[1:]]), ("entry twice", [0, 0])]
        for kind, other in others:
            yield f"{kind} of {name}", [*values[:place], other, *values[place + 1 :]]


def wrong_calls(case: Case, schema: Schema) -> Iterator[WrongCall]:
    """Calls that differ from a correct one in one argument or output."""
    values = bind(case, schema)
    outputs = list(expected_results(case, schema, values))
    for kind, wrong in wrong_values(values, schema):
        yield kind, wrong, outputs
    for dtype in (torch.bool, torch.int8, torch.float16):
        yield f"dtype {dtype} of out", values, [o.new_zeros(o.shape, dtype=dtype) for o in outputs]
    yield "small out", values, [o.new_zeros([max(0, s - 1) for s in o.shape]) for o in outputs]
    yield "rank of out", values, [o.new_zeros((*o.shape, 2)) for o in outputs]


def message(
    library: str, schema: Schema, values: list[Any], outputs: Any, capfd: Any
) -> str | None:
    """What is logged; None when the kernel takes the call."""
    call = Call(load_library(library), schema)
    try:
        inputs = [a for a in schema.arguments if not a.is_out or schema.name.endswith("_")]
        for argument, value in zip(inputs, values, strict=True):
            call.add_input(argument, value)
        if not schema.name.endswith("_"):
            call.add_outputs(tuple(outputs))
    except ValueError:  # a tensor that is not dense is no call at all
        return None
    capfd.readouterr()
    failed = call.run() != 0
    text = capfd.readouterr().err
    return text if failed else None


def is_reported(text: str, schema: Schema) -> bool:
    """One line names the operator, and after it what was expected and found."""
    overload = f".{schema.overload}" if schema.overload else ""
    name = re.escape(schema.name + overload)
    return re.search(rf"\] (?:\w+::)?{name}: [^\n]*\bexpected\b[^\n]*\bfound\b", text) is not None


@pytest.mark.parametrize("library", LIBRARIES)
@pytest.mark.parametrize("name", sorted(set(SCHEMAS) - NO_VALUES))
def test_every_operator_tells_what_is_wrong(library: str, name: str, capfd: Any) -> None:
    schema, case = SCHEMAS[name], plain_case(name)
    assert case is not None
    failures, silent = 0, []
    for kind, values, outputs in wrong_calls(case, schema):
        text = message(library, schema, values, outputs, capfd)
        if text is None:
            continue
        failures += 1
        if not is_reported(text, schema):
            silent.append(f"{kind}: {text!r}")
    assert not silent, "\n".join(silent)
    assert failures > 0, "no wrong call fails"


@pytest.mark.parametrize("library", LIBRARIES)
@pytest.mark.parametrize("row", BAD_CALLS, ids=lambda row: row[0])
def test_each_wrong_call_of_the_table_is_told(library: str, row: Any, capfd: Any) -> None:
    name, inputs, shape, dtype = row
    schema = SCHEMAS[f"aten::{name}"]
    values = [make_input(value, 17 * i) for i, value in enumerate(inputs)]
    # The second output holds positions where it does not hold more of the first.
    other = torch.int64 if "indices" in name or name == "topk.values" else dtype
    count = sum(a.is_out for a in schema.arguments)
    outputs = [torch.zeros(shape, dtype=d) for d in [dtype, *[other] * (count - 1)]]
    text = message(library, schema, values, outputs, capfd)
    assert text is not None and is_reported(text, schema), text
