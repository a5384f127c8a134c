# SPDX-License-Identifier: BSD-3-Clause
"""The table of supported operators has every row of a backend's table, and says what its checks say."""

from __future__ import annotations

import csv
import io
from pathlib import Path

import pytest

from executorch.backends.xnnpack.aot.ops import TABLE
from executorch.exir.backend.lowering.annotation import Kind
from tools import backend_operators
from tools.backend_operators import paged, table


def lines(backend: str) -> dict[str, dict[str, str]]:
    found = csv.DictReader(io.StringIO(table(paged()[backend])))
    return {line["Operator"]: line for line in found}


@pytest.mark.req("NPU-046")
@pytest.mark.parametrize("name", paged())
def test_every_row_is_there(name: str) -> None:
    table = paged()[name].rows()
    assert list(lines(name)) == [*map(str, table.rows_of_patterns), *table]


def test_rows_say_how_they_are_quantized(tmp_path: Path) -> None:
    for operator, line in lines("xnnpack").items():
        quantized = TABLE[operator].annotation.kind is not Kind.NONE
        assert bool(line["Quantization"]) == quantized, operator
    page = tmp_path / "made" / "op-support.csv"
    assert backend_operators.main(["xnnpack", "--write", str(page)]) == 0
    assert page.read_text() == table(paged()["xnnpack"])


def test_conditions_are_those_of_the_rows() -> None:
    message = lines("xnnpack")["aten.linear.default"]["Not delegated because"]
    assert message == "weight and bias must be constant; a weight of two dimensions is expected"
    assert not lines("xnnpack")["aten.abs.default"]["Not delegated because"]
    assert lines("skeleton")["aten.add.Tensor"]["Not delegated because"] == "alpha must be 1"
    sums = lines("skeleton_kernels")["aten.relu.default(aten.add.Tensor(x, y))"]
    assert "one shape" in sums["Not replaced because"]


@pytest.mark.parametrize("words", [[], ["xnnpack", "--pages"], ["nobody"]])
def test_what_is_asked_for_must_be_clear(words: list[str]) -> None:
    with pytest.raises(SystemExit):
        backend_operators.main(words)
