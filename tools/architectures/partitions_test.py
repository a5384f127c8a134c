# SPDX-License-Identifier: BSD-3-Clause
"""XNNPACK's partitions equal eager and are neither more nor leave more than upstream's: a sample always, all that the
page lists in `make test-full`."""

from __future__ import annotations

from collections.abc import Iterator

import pytest

from executorch.test.repository.sources import ROOT
from executorch.tools.architectures import page
from executorch.tools.architectures.measure import Measure
from executorch.tools.architectures.partitions import Cut, cut, is_worse, recorded, text
from executorch.tools.architectures.table import named

PAGE = ROOT / "docs/results/partitions.md"
RECORDED = recorded(PAGE.read_text())
SAMPLE = ["vit", "gpt2"]


@pytest.fixture(scope="module")
def measure(transformers: str, tmp_path_factory: pytest.TempPathFactory) -> Iterator[Measure]:
    made = Measure(transformers, None, tmp_path_factory.mktemp("partitions"), "delegate")
    yield made
    made.close()


def check(name: str, measure: Measure) -> None:
    result = measure(named(name))
    assert page.refused(result) is None, page.refused(result)
    ours, upstream = result["ours"], RECORDED[name]
    assert page.vanishing(result) is None
    assert page.problem(ours) is None, ours.get("trace")
    found = cut(ours)
    assert found is not None and upstream is not None
    assert found.delegates <= upstream.delegates and found.left <= upstream.left


@pytest.mark.interop
@pytest.mark.parametrize("name", SAMPLE)
def test_sample_has_no_more_than_upstream(name: str, measure: Measure) -> None:
    check(name, measure)


@pytest.mark.interop
@pytest.mark.full
@pytest.mark.parametrize("name", [name for name in RECORDED if name not in SAMPLE])
def test_no_more_than_upstream(name: str, measure: Measure) -> None:
    check(name, measure)


@pytest.mark.machine("a page of results")
def test_the_page_covers_the_promised_number() -> None:
    assert len([name for name, upstream in RECORDED.items() if upstream is not None]) >= 30


def result(delegates: int, calls: int) -> page.Result:
    engine = {"delegates": 2, "left": {"aten_where_self": 3}, "difference": 0.0}
    ours = {**engine, "delegates": delegates, "left": {"aten_where_self": calls}}
    return {"name": f"net{delegates}{calls}", "export": {}, "ours": ours, "upstream": engine}


def test_the_page_counts_and_reads_back() -> None:
    results = [result(1, 3), result(2, 4), result(3, 0)]
    assert [is_worse(each) for each in results] == [False, True, True]
    written = text(results)
    assert "Of the 3 that both lower, 1 have neither more" in written
    assert "6 delegates and 7 calls left here, 6 delegates and 9 calls left upstream" in written
    assert recorded(written) == {each["name"]: Cut(2, 3) for each in results}
