# SPDX-License-Identifier: BSD-3-Clause
"""The command writes a program, or says what is missing and where the graph is."""

from __future__ import annotations

import re
from pathlib import Path

import pytest

from executorch.backends.samsung.aot.graph import Graph
from executorch.backends.samsung.test.stand_in import recording
from executorch.examples.samsung.aot_compiler import main


@pytest.mark.parametrize("precision", [[], ["-p", "A8W8"]])
def test_a_program_is_written(precision: list[str], tmp_path: Path) -> None:
    with recording() as log:
        assert main(["-m", "linear", "-c", "e9965", "-o", str(tmp_path), *precision]) == 0
    (file,) = tmp_path.iterdir()
    assert file.name == f"linear_exynos_{precision[1] if precision else 'fp32'}.pte"
    kinds = [each[2] for each in log if each[0] == "DefineOpNode"]
    assert "FC" in kinds and ("QUANTIZE" in kinds) == bool(precision)


def test_without_the_sdk_the_graph_is_left(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    assert main(["-m", "linear", "-o", str(tmp_path)]) == 1
    text = capsys.readouterr().err
    assert "error: " in text and "LiteCore is needed" in text
    folder = re.search(r"compile are in (.+)$", text.strip()).group(1)
    graphs = [Graph.load(each) for each in Path(folder).iterdir()]
    assert [each.type for each in graphs[0].operators] == ["FC"]


def test_wrong_arguments() -> None:
    with pytest.raises(ValueError, match="one of E9955, E9965"):
        main(["-m", "linear", "-c", "E1"])
    with pytest.raises(SystemExit):
        main(["-m", "there is none"])
