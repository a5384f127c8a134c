# SPDX-License-Identifier: BSD-3-Clause
"""The graph of every case is, operator by operator, what data/graphs.tsv has: as the released package 1.4.1 makes it,
or, behind a comment that says why, another one. Data is compared by digests, qparams by their numbers. What the graphs
mean, by the evaluator, is what eager PyTorch computes."""

from __future__ import annotations

from pathlib import Path

import pytest

from executorch.backends.samsung.aot.ops import TABLE
from executorch.backends.samsung.test.evaluated import difference, made
from executorch.backends.samsung.test.graph_cases import FAMILIES, Case
from executorch.backends.samsung.test.graph_text import lines

Lines = dict[tuple[str, str], list[str]]
TEXT = (Path(__file__).parent / "data" / "graphs.tsv").read_text()
MODES = ("float", "a8w8")


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
        assert not is_here or reason, line
        found = (otherwise if is_here else released).setdefault((mode.split()[-1], case), [])
        found += [operator] if operator else []
    return released, otherwise


RELEASED, OTHERWISE = read()


def graph_of(case: Case, mode: str) -> list[str]:
    graphs, _, _ = made(case.name, mode)
    return sorted(line for graph in graphs for line in lines(graph))


def expected(case: Case, mode: str) -> list[str]:
    key = mode, case.name
    return sorted(OTHERWISE[key] if key in OTHERWISE else RELEASED[key])


@pytest.mark.parametrize("mode", MODES)
@pytest.mark.parametrize("family", FAMILIES)
def test_graphs(family: str, mode: str) -> None:
    cases = [each for each in FAMILIES[family] if {(mode, each.name)} & {*RELEASED, *OTHERWISE}]
    assert len(cases) >= len(FAMILIES[family]) - 1
    found = {case.name: graph_of(case, mode) for case in cases}
    assert found == {case.name: expected(case, mode) for case in cases}


@pytest.mark.parametrize("mode", MODES)
@pytest.mark.parametrize("family", FAMILIES)
def test_graphs_compute_what_eager_does(family: str, mode: str) -> None:
    found = {}
    for case in FAMILIES[family]:
        graphs, model, inputs = made(case.name, mode)
        if len(graphs) == 1:  # else nothing is delegated
            found[case.name] = difference(graphs[0], model, inputs)
    assert len(found) >= len(FAMILIES[family]) - 5
    assert {name: each for name, each in found.items() if each} == {}


@pytest.mark.parametrize("mode", MODES)
def test_a_network(mode: str) -> None:
    """One case of the above, which is fast."""
    (case,) = (each for each in FAMILIES["chains"] if each.name == "residual")
    assert graph_of(case, mode) == expected(case, mode)


def test_most_graphs_are_those_of_the_released_package() -> None:
    cases = sum(map(len, FAMILIES.values()))
    same = {*RELEASED} - {*OTHERWISE}
    assert cases > 90 and len(same) > 0.8 * 2 * cases, (len(same), cases)


def test_every_operator_has_a_case() -> None:
    every = [*RELEASED.values(), *OTHERWISE.values()]
    written = {line.split("  ")[0] for found in every for line in found}
    assert len(TABLE) >= 48 and len(written) >= 38, sorted(written)
