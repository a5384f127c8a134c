# SPDX-License-Identifier: BSD-3-Clause
"""Architectures equal eager and need no more planned bytes than upstream: a sample always, all in `make test-full`."""

from __future__ import annotations

import re
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path

import pytest

from executorch.tools.architectures import page
from executorch.tools.architectures.measure import Measure
from executorch.tools.architectures.table import ARCHITECTURES, named

ROOT = Path(__file__).resolve().parents[2]
SAMPLE = ["gpt2", "t5", "vit", "resnet"]
REST = [row.name for row in ARCHITECTURES if row.name not in SAMPLE]


@pytest.fixture(scope="module")
def measure(transformers: str, tmp_path_factory: pytest.TempPathFactory) -> Iterator[Measure]:
    made = Measure(transformers, None, tmp_path_factory.mktemp("architectures"))
    yield made
    made.close()


@pytest.fixture(scope="module")
def recorded() -> dict[str, page.Recorded]:
    return page.recorded((ROOT / "docs" / "architectures.md").read_text())


def check(name: str, measure: Measure, recorded: dict[str, page.Recorded]) -> None:
    result = measure(named(name))
    if name not in recorded:
        # The page lists it apart: an error is allowed there, a wrong number never.
        ours = result.get("ours", {"error": page.refused(result)})
        assert "error" in ours or page.problem(ours) is None, page.problem(ours)
        return
    assert page.refused(result) is None, page.refused(result)
    ours = result["ours"]
    assert page.vanishing(result) is None
    assert page.problem(ours) is None, ours.get("trace")
    assert ours["bound"] <= ours["planned"] <= recorded[name].planned
    if recorded[name].upstream is not None:
        assert ours["planned"] <= recorded[name].upstream


@pytest.mark.interop
@pytest.mark.req("CMP-052")
@pytest.mark.parametrize("name", SAMPLE)
def test_sample_equals_eager(
    name: str, measure: Measure, recorded: dict[str, page.Recorded]
) -> None:
    check(name, measure, recorded)


@pytest.mark.interop
@pytest.mark.full
@pytest.mark.parametrize("name", REST)
def test_equals_eager(name: str, measure: Measure, recorded: dict[str, page.Recorded]) -> None:
    check(name, measure, recorded)


def test_the_page_covers_the_promised_number(recorded: dict[str, page.Recorded]) -> None:
    dynamic = [row for row in ARCHITECTURES if row.sizes and row.name in recorded]
    assert len(recorded) >= 60
    assert len(dynamic) >= 10
    assert {row.name for row in ARCHITECTURES} >= set(recorded)


@pytest.mark.machine("resident memory")
def test_lowering_needs_little_memory_besides_the_weights() -> None:
    """50 million parameters, 190 MB; what is resident beyond them does not grow with them."""
    size = ["--layers", "4", "--width", "512", "--inner", "2048"]
    module = "executorch.tools.architectures.memory"
    command = [sys.executable, "-m", module, *size]
    done = subprocess.run(command, capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stderr[-2000:]
    found = re.search(r"(\d+) MB beyond torch.export", done.stdout)
    assert found and int(found[1]) < 150


def result(
    planned: int, upstream: int, difference: float = 0.0, dead: list[int] | None = None
) -> page.Result:
    engine = {"cpu_seconds": 1.0, "bytes": 8, "difference": difference}
    return {
        "name": f"net{planned}",
        "kind": "text",
        "dynamic": {"batch": [1, 4]},
        "export": {"nodes": 3, "norm": 1.5, "dead": dead or []},
        "ours": {**engine, "planned": planned, "bound": 100},
        "upstream": {**engine, "planned": upstream, "difference": 0.0},
    }


def test_the_page_counts_and_reads_back() -> None:
    refused = {**result(1, 1), "name": "no", "export": {"refused": "UserError: not `that`"}}
    still = result(80, 90, dead=[1])
    text = page.page([result(100, 120), result(110, 105), result(90, 90, 1.0), still, refused])
    assert "2 of 4 exported programs equal eager here, 3 of 4 upstream" in text
    assert "within 5 % of the bound on 1 of 2" in text
    assert "not above upstream's on 1 of the 2" in text
    assert "- net90: `differs from eager by 1.0e+00`" in text
    assert "- net80: `vanishing or constant outputs of eager: 1`" in text
    assert "- no: `UserError: not 'that'`" in text
    assert page.recorded(text) == {
        "net100": page.Recorded(planned=100, upstream=120),
        "net110": page.Recorded(planned=110, upstream=105),
    }


def test_an_interrupted_run_goes_on_where_it_was() -> None:
    whole, refused = result(1, 2), {"name": "no", "export": {"refused": "UserError"}}
    ours = {key: value for key, value in result(3, 4).items() if key != "upstream"}
    failed = {**result(5, 6), "upstream": {"error": "no operator", "step": "lower"}}
    results = [whole, refused, ours, failed]
    assert page.complete(results, upstream=True) == {"net1", "no", "net5"}
    assert page.complete(results, upstream=False) == {"net1", "no", "net3", "net5"}
