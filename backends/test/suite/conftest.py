# SPDX-License-Identifier: BSD-3-Clause
"""The fixture `test_runner`: every test that asks for it runs on every flow. Of rows of the corpus some flows run a
sample, and all in the full run."""

from __future__ import annotations

from collections import Counter

import pytest

from executorch.backends.test.suite.flow import TestFlow, all_flows
from executorch.backends.test.suite.operators import TestRunner

# Flow -> every how manyth row it runs in the usual tests.
SAMPLE = {"portable": 1, "xnnpack": 1}
OTHERS = 24


@pytest.hookimpl(tryfirst=True)
def pytest_collection_modifyitems(items: list[pytest.Item]) -> None:
    seen: Counter[str] = Counter()
    for item in items:
        values = getattr(getattr(item, "callspec", None), "params", {})
        if "row" in values and "test_runner" in values:
            flow = values["test_runner"].name
            seen[flow] += 1
            if seen[flow] % SAMPLE.get(flow, OTHERS):
                item.add_marker(pytest.mark.full)


@pytest.fixture(params=list(all_flows().values()), ids=str)
def test_runner(request: pytest.FixtureRequest) -> TestRunner:
    flow: TestFlow = request.param
    params = dict(request.node.callspec.params)
    params.pop("test_runner", None)
    return TestRunner(flow, request.node.name, request.node.originalname, params or None)
