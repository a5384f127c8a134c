# SPDX-License-Identifier: BSD-3-Clause
"""Tests of other folders, which may follow in the same process, find none of the stand-ins that hooks put in place."""

from collections.abc import Iterator

import pytest

from executorch.backends.test.conformance.backend import all_backends


@pytest.fixture(autouse=True, scope="module")
def stand_ins_leave() -> Iterator[None]:
    yield
    for backend in all_backends().values():
        backend.leave()
