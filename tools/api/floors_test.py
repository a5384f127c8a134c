# SPDX-License-Identifier: BSD-3-Clause
"""What other people's Python code imports stays importable, weighed by the files that import it."""

import pytest

from executorch.tools.api.imported_names import used_names
from executorch.tools.api.report import API, rules, share, used_by_area

# area -> percent that must be here; names of later work are not counted, those left out on purpose are
FLOORS = {
    "backends.test": 99,
    "backends.transforms": 97,
    "backends.xnnpack": 97,
    "examples.models": 84,
    "examples.xnnpack": 100,
    "exir": 97,
    "export": 97,
    "extension.export_util": 100,
    "extension.flat_tensor": 100,
    "extension.pybindings": 98,
    "extension.pytree": 100,
    "kernels": 100,
    "runtime": 100,
}
OF_ALL = 97


@pytest.mark.slow
@pytest.mark.req("CMP-009")
def test_imported_names_are_here() -> None:
    areas = used_by_area(used_names(API / "imported-names.tsv"), rules())
    found = {area: share(counts["files"]) for area, counts in areas.items() if area != "later"}
    low = {area: found[area] for area, floor in FLOORS.items() if found[area] < floor}
    assert not low, f"below their floors: {low}; `make api` lists what is missing"
    due = [counts["files"] for area, counts in areas.items() if area != "later"]
    assert share(sum(due[1:], due[0])) >= OF_ALL
