# SPDX-License-Identifier: BSD-3-Clause
"""The rows of the operator bench are complete, and what it prints follows from them."""

from __future__ import annotations

from collections import Counter

import pytest
import torch

from kernels.test.kernel_call import load_library, load_schemas
from tools.bench.ops import NOT_MEASURED, cases
from tools.bench.ops.case import Case
from tools.bench.ops.dtypes import in_dtype, other_dtypes
from tools.bench.ops.measure import Row, measure
from tools.bench.ops.page import geometric_mean, page


def test_every_operator_has_three_sizes_or_a_reason() -> None:
    rows = Counter(f"aten::{case.op}" for case in cases())
    schemas = set(load_schemas())
    too_few = {name for name in schemas - NOT_MEASURED.keys() if rows[name] < 3}
    assert too_few == set()
    assert NOT_MEASURED.keys() <= schemas


def test_rows_have_names_of_their_own() -> None:
    names = Counter((case.op, case.label) for case in cases())
    assert [name for name, count in names.items() if count > 1] == []


def test_a_measurement_takes_time_on_both_sides() -> None:
    x = torch.arange(6.0)
    row = measure(
        load_library("optimized"), load_schemas()["aten::exp.out"], Case("exp.out", "6", (x,))
    )
    assert row.problem == ""
    assert row.elements == 6
    assert row.eager > 0 and row.ours > 0


def test_a_row_is_made_again_in_every_other_dtype() -> None:
    x = torch.rand(40) + 0.1
    row = Case("remainder.Scalar_out", "40", (x, 1.5))
    schema = load_schemas()["aten::remainder.Scalar_out"]
    found = {
        label: in_dtype(row, schema, label, dtype) for label, dtype in other_dtypes(row).items()
    }
    assert set(found) == {f"40 {d}" for d in "float16 bfloat16 int8 uint8 int32 int64 bool".split()}
    tensor, number = found["40 int8"].args
    assert tensor.dtype == torch.int8 and bool((tensor != 0).all())
    assert number == 2
    assert found["40 float16"].args[1] == 1.5
    made = Case("zeros.out", "7", ([7],))
    assert in_dtype(made, load_schemas()["aten::zeros.out"], "7 int8", torch.int8).kwargs == {
        "dtype": torch.int8
    }
    assert other_dtypes(Case("add.out", "7 float16", (x.half(), x.half()))) == {}


def test_page_has_mean_and_rows_above_the_limit() -> None:
    slow = Row("a.out", "x", 20_000, eager=1e-6, ours=4e-6)
    fast = Row("b.out", "x", 20_000, eager=4e-6, ours=1e-6)
    small = Row("c.out", "x", 10, eager=1e-6, ours=1e-6)
    assert geometric_mean([slow, fast]) == pytest.approx(1.0)
    text = page({1: [slow, fast, small]}, limit=2.0)
    assert "Above 2 at 16,384 elements or more: 1." in text
    assert "| a.out | x | 1.0 | 4.0 | 4.00 |" in text
