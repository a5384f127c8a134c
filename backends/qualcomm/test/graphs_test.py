# SPDX-License-Identifier: BSD-3-Clause
"""The graph of every case is, operator by operator, what data/graphs.tsv has: as the released package 1.4.1 makes it,
or, behind a comment that says why, another one. Data is compared by digests, encodings by their numbers."""

from __future__ import annotations

from pathlib import Path

import pytest

from executorch.backends.qualcomm.aot.graph_text import lines
from executorch.backends.qualcomm.aot.ops import TABLE
from executorch.backends.qualcomm.quantizer.quantizer import QuantDtype
from executorch.backends.qualcomm.test.graph_cases import FAMILIES, Case
from executorch.backends.qualcomm.test.recorder import Recorder, lowered, quantized

Lines = dict[tuple[str, str], list[str]]
TEXT = (Path(__file__).parent / "data" / "graphs.tsv").read_text()


def read() -> tuple[Lines, Lines]:
    """By mode and case: of 1.4.1, and those that are otherwise here."""
    released: Lines = {}
    otherwise: Lines = {}
    reason = ""
    for line in TEXT.splitlines():
        if line.startswith("# "):
            reason = line.removeprefix("# ")
            continue
        mode, case, operator = line.split("\t")
        is_here = mode.startswith("here ")
        assert not is_here or len(reason) > 10, line
        found = (otherwise if is_here else released).setdefault((mode.split()[-1], case), [])
        found += [operator] if operator else []
    return released, otherwise


RELEASED, OTHERWISE = read()


def graph_of(case: Case, mode: str) -> list[str]:
    model, inputs, door = case.model(), case.inputs(), Recorder()
    if mode == "8a8w":
        model = quantized(model, inputs, QuantDtype.use_8a8w)
    lowered(model, inputs, door)
    return [line for graph in door.graphs for line in lines(graph)]


@pytest.mark.parametrize("mode", ["float", "8a8w"])
@pytest.mark.parametrize("family", FAMILIES)
def test_graphs(family: str, mode: str) -> None:
    cases = [case for case in FAMILIES[family] if (mode, case.name) in RELEASED]
    assert cases or mode == "8a8w"
    expected = {c.name: OTHERWISE.get((mode, c.name), RELEASED[mode, c.name]) for c in cases}
    assert {case.name: graph_of(case, mode) for case in cases} == expected


def test_most_graphs_are_those_of_the_released_package() -> None:
    for mode, most in (("float", 20), ("8a8w", 35)):
        assert sum(key[0] == mode for key in OTHERWISE) <= most
        assert sum(key[0] == mode for key in RELEASED) >= 110


def test_every_row_has_a_case() -> None:
    """By the operators that it writes: those of rows that are here under several names stand for all."""
    written = {line.split("  ")[0] for found in RELEASED.values() for line in found}
    assert len(TABLE) > 100 and len(written) > 75
