# SPDX-License-Identifier: BSD-3-Clause
from __future__ import annotations

import json
from pathlib import Path

from executorch.devtools.commands.output.page import page
from executorch.devtools.commands.output.report import Report, Table


def test_lines_are_shown_by_the_path_that_their_reader_knows() -> None:
    library = "/opt/v/lib/python3.11/site-packages/models/net.py:7: x = y / site-packages/z"
    own = f"{Path.cwd()}/mine/net.py:3: a + b"
    report = Report("t", [], [Table("rows", "Rows", [{"line": library}, {"line": own}])])
    for shown in (report.as_text(), page(report)):
        assert "models/net.py:7: x = y / site-packages/z" in shown and "mine/net.py:3" in shown
        assert "python3.11" not in shown and str(Path.cwd()) not in shown
    assert [row["line"] for row in json.loads(report.as_json())["rows"]] == [library, own]
