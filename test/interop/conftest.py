# SPDX-License-Identifier: BSD-3-Clause
"""Which upstream wheels the tests of this folder talk to."""

from __future__ import annotations

import pytest

from executorch.test.interop import peer


@pytest.fixture(scope="module", params=peer.VERSIONS)
def version(request: pytest.FixtureRequest) -> str:
    """Of the wheel; a test that asks for it runs once with each."""
    return request.param
