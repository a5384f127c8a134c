# SPDX-License-Identifier: BSD-3-Clause
"""The table of supported operators has every row of the backend's table, and says what its checks say."""

from __future__ import annotations

import csv
import io
from pathlib import Path

from executorch.backends.xnnpack.aot.ops import TABLE, Quantized
from tools import xnnpack_operators


def lines() -> dict[str, dict[str, str]]:
    found = csv.DictReader(io.StringIO(xnnpack_operators.table()))
    return {line["Operator"]: line for line in found}


def test_every_row_is_there(tmp_path: Path) -> None:
    assert list(lines()) == list(TABLE)
    for operator, line in lines().items():
        quantized = TABLE[operator].quantized is not Quantized.NO
        assert bool(line["Quantization"]) == quantized, operator
    assert xnnpack_operators.main(["--write", str(tmp_path / "made" / "op-support.csv")]) == 0
    assert (tmp_path / "made" / "op-support.csv").read_text() == xnnpack_operators.table()


def test_conditions_are_those_of_the_rows() -> None:
    said = lines()["aten.linear.default"]["Not delegated because"]
    assert said == "weight and bias must be constant; a weight of two dimensions is expected"
    assert not lines()["aten.abs.default"]["Not delegated because"]
