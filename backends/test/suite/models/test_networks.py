# SPDX-License-Identifier: BSD-3-Clause
"""Every row of the corpus that is a network."""

from __future__ import annotations

import pytest

from executorch.backends.test.corpus import NETWORKS, rows
from executorch.backends.test.corpus.row import Row
from executorch.backends.test.suite.operators import TestRunner

ROWS = [row for row in rows() if row.family in NETWORKS]


@pytest.mark.parametrize("row", ROWS, ids=lambda row: row.id)
def test_network(test_runner: TestRunner, row: Row) -> None:
    test_runner.run_row(row)
