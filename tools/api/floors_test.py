# SPDX-License-Identifier: BSD-3-Clause
"""What other people's Python code imports stays importable, weighed by the files that import it."""

import pytest

from executorch.tools.api import python_report
from executorch.tools.api.imported_names import used_names
from executorch.tools.api.listing import read_cpp, read_python
from executorch.tools.api.report import API, Rule, rules, share, used_by_area

# area -> percent that must be here; names that are to come are not counted, those left out on purpose are
FLOORS = {
    "backends.test": 99,
    "backends.transforms": 97,
    "backends.xnnpack": 97,
    "devtools": 99,
    "examples.models": 96,
    "examples.xnnpack": 100,
    "exir": 97,
    "export": 97,
    "extension.export_util": 100,
    "extension.flat_tensor": 100,
    "extension.llm": 100,
    "extension.pybindings": 98,
    "extension.pytree": 100,
    "kernels": 100,
    "runtime": 100,
}
OF_ALL = 98


@pytest.mark.req("CMP-009")
def test_imported_names_are_here() -> None:
    areas = used_by_area(used_names(API / "imported-names.tsv"), rules())
    found = {area: share(counts["files"]) for area, counts in areas.items() if area != "open"}
    low = {area: found[area] for area, floor in FLOORS.items() if found[area] < floor}
    assert not low, f"below their floors: {low}; `make api` lists what is missing"
    due = [counts["files"] for area, counts in areas.items() if area != "open"]
    assert share(sum(due[1:], due[0])) >= OF_ALL


LISTINGS = {
    "cpp": "backends devtools extension llm runtime-core runtime-rest",
    "python": "codegen-and-kernels devtools exir export llm runtime-and-extension xnnpack-and-transforms",
}


def test_every_listing_is_read() -> None:
    readers = {"cpp": read_cpp, "python": read_python}
    for language, names in LISTINGS.items():
        pages = sorted(API.glob(f"{language}-*.md"))
        assert [page.stem.removeprefix(f"{language}-") for page in pages] == names.split()
        for page in pages:
            units = {row.unit for row in readers[language](page)}
            titles = [line for line in page.read_text().splitlines() if line.startswith("## ")]
            assert len(units) > 0.8 * len(titles), page


def test_no_rule_is_for_names_that_are_here() -> None:
    """A rule whose every Python name exists by now goes."""
    verdicts = [each.verdict for each in used_names(API / "imported-names.tsv")]
    verdicts += python_report.report(sorted(API.glob("python-*.md")))
    states: dict[Rule, set[str]] = {rule: set() for rule in rules()}
    for verdict in verdicts:
        subject = f"{verdict.row.unit} {verdict.row.scope} {verdict.row.text}"
        for rule in states:
            if rule.pattern.search(subject):
                states[rule].add(verdict.state)
                break
    assert [rule.pattern.pattern for rule, found in states.items() if found == {"exists"}] == []
