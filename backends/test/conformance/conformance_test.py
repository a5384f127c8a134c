# SPDX-License-Identifier: BSD-3-Clause
"""Every backend of this package passes every check."""

from __future__ import annotations

import dataclasses

import pytest

from executorch.backends.test.conformance.backend import Backend, all_backends
from executorch.extension.pybindings import portable_lib
from executorch.test.e2e.build_tree import loadable

pytest.register_assert_rewrite("executorch.backends.test.conformance.checks")
from executorch.backends.test.conformance.checks import *  # noqa: E402, F403

BACKENDS = all_backends()


def test_backends_are_found_by_their_hooks() -> None:
    assert {"SkeletonBackend", "XnnpackBackend"} <= set(BACKENDS)


@pytest.fixture(params=list(BACKENDS))
def backend(request: pytest.FixtureRequest) -> Backend:
    found = BACKENDS[request.param]
    if found.library:
        found = dataclasses.replace(found, library=str(loadable(found.library)))
    if found.why_missing():
        pytest.skip(found.why_missing())
    found.load_runtime()
    if found.id not in portable_lib._get_registered_backend_names():
        pytest.skip(f"built without {found.id}")
    return found
