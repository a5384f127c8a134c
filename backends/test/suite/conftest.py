# SPDX-License-Identifier: BSD-3-Clause
"""The fixture `test_runner`: every test that asks for it runs on every flow."""

from __future__ import annotations

import pytest

from executorch.backends.test.suite.flow import TestFlow, all_flows
from executorch.backends.test.suite.operators import TestRunner


@pytest.fixture(params=list(all_flows().values()), ids=str)
def test_runner(request: pytest.FixtureRequest) -> TestRunner:
    flow: TestFlow = request.param
    params = dict(request.node.callspec.params)
    params.pop("test_runner", None)
    return TestRunner(flow, request.node.name, request.node.originalname, params or None)
