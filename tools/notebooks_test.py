# SPDX-License-Identifier: BSD-3-Clause
"""Notebooks run from top to bottom, and print what is stored in them, numbers aside."""

from __future__ import annotations

import json
import re
from pathlib import Path
from typing import Any

import pytest

from executorch.backends.arm.arm_vela import VELA
from executorch.backends.arm.vgf.model_converter import CONVERTER
from executorch.devtools import commands
from executorch.tools import notebooks

NEEDS = {"ethos_u_minimal_example": VELA.why_missing, "vgf_minimal_example": CONVERTER.why_missing}
LARGEST = 16_000  # bytes of a file with its outputs


def cell(source: str, text: str = "") -> dict[str, Any]:
    outputs = [{"output_type": "stream", "name": "stdout", "text": [text]}] if text else []
    return {"cell_type": "code", "source": [source], "outputs": outputs}


def book(path: Path) -> list[dict[str, Any]]:
    return json.loads(path.read_text())["cells"]


def masked(text: str) -> str:
    """Without numbers, and without the columns and lines whose widths follow them."""
    return re.sub(r"\d[\d.,e+-]*|[\s╒╤╕╞╪╡├┼┤╘╧╛═─]+", " ", text).replace("  ", " ").strip()


def named(name: str) -> Path:
    (path,) = (each for each in notebooks.notebooks() if each.stem == name)
    return path


def test_cells_share_names_and_show_the_value_of_their_last_line() -> None:
    cells = [cell("%matplotlib inline\na = 2\nprint(a)"), cell("b = a + 1\nb"), cell("b = 0")]
    assert notebooks.run(cells) == ["2\n", "3\n", ""]


def test_what_is_kept_is_short_and_without_places_of_this_machine() -> None:
    text = 'File "lib/site-packages/torch/nn.py", line 1\n' + "x" * 200 + "\n"
    first, second = notebooks.shortened(text).splitlines()
    assert first == 'File "torch/nn.py", line 1' and second == "x" * notebooks.COLUMNS + " ..."
    assert notebooks.shortened("a\n" * 50).splitlines()[-1] == "... 10 more lines"


def test_a_cell_that_fails_is_told(tmp_path: Path) -> None:
    path = tmp_path / "wrong.ipynb"
    path.write_text(json.dumps({"cells": [cell("1 / 0")]}))
    with pytest.raises(RuntimeError, match="ZeroDivisionError"):
        notebooks.fresh(path, tmp_path)


def test_numbers_are_masked_and_words_are_not() -> None:
    assert masked("took  1.5e-03 ms") == masked("took 27 ms") != masked("takes 27 ms")


@pytest.mark.parametrize("path", notebooks.notebooks(), ids=lambda path: path.stem)
def test_outputs_are_stored_small(path: Path) -> None:
    codes = [each for each in book(path) if each["cell_type"] == "code"]
    assert [each["execution_count"] for each in codes] == list(range(1, len(codes) + 1))
    assert path.stat().st_size < LARGEST and any(map(notebooks.printed, codes))
    assert not re.search(r"/(home|root|tmp|work|usr)/", path.read_text())


@pytest.mark.full
@pytest.mark.req("PRJ-021", "PRJ-008")
@pytest.mark.parametrize("path", notebooks.notebooks(), ids=lambda path: path.stem)
def test_a_notebook_runs_and_prints_what_is_stored(path: Path, tmp_path: Path) -> None:
    if reason := NEEDS.get(path.stem, str)():
        pytest.skip(reason)
    outputs = notebooks.fresh(path, tmp_path)
    codes = [each for each in book(path) if each["cell_type"] == "code"]
    kept = [masked(notebooks.printed(each)) for each in codes]
    assert [masked(notebooks.shortened(each)) for each in outputs] == kept


@pytest.mark.req("DT-039", "DT-027")
def test_commands_of_the_devtools_notebook(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    path = named("tutorial")
    outputs = notebooks.fresh(path, tmp_path)
    assert re.search(r"^0\.\d+ ms in fc1$", outputs[2], re.M)
    assert 'File "cell 1", line' in outputs[2]
    monkeypatch.chdir(tmp_path)
    text = "\n".join(map(notebooks.source, book(path)))
    lines = re.findall(r"^python -m executorch.devtools (.*)$", text, re.M)
    assert len(lines) == 3 and [commands.main(line.split()) for line in lines] == [0, 0, 0]
