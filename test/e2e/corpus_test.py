# SPDX-License-Identifier: BSD-3-Clause
"""Rows of the corpus on the C++ runtime, of every family some."""

from __future__ import annotations

from pathlib import Path

import pytest
from torch.utils import _pytree as pytree

from executorch.backends.test.corpus import rows
from executorch.backends.test.corpus.row import Row
from executorch.backends.test.suite.attempt import begin_case
from executorch.backends.test.suite.flow import all_flows
from executorch.backends.test.suite.rows import difference, make_row
from executorch.test.e2e.cpp_calls import call_in_cpp

SAMPLE = 40
# The others are refused, or have complex numbers at their ends, which the calls' files have not.
ROWS = [
    row for row in rows() if row.is_exported and not row.refused and row.family != "complex numbers"
]


@pytest.mark.parametrize("flow", ["portable", "xnnpack"])
@pytest.mark.parametrize("row", ROWS[::SAMPLE], ids=lambda row: row.id)
def test_a_row_computes_what_eager_does(row: Row, flow: str, tmp_path: Path) -> None:
    taken = all_flows()[flow]
    tester = make_row(begin_case(taken, row.id, row.id), row, taken)
    file = tmp_path / "row.pte"
    file.write_bytes(tester.get_artifact())
    results = call_in_cpp(file, [("forward", pytree.tree_leaves(inputs)) for inputs in row.calls])
    for inputs, found in zip(row.calls, results, strict=True):
        expected = pytree.tree_leaves(row.module()(*inputs))
        assert difference(row, found, expected, row.tolerance) == ""
