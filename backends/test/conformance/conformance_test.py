# SPDX-License-Identifier: BSD-3-Clause
"""Every backend of this package passes every check; what needs a runtime is left out where that is not built."""

from __future__ import annotations

import dataclasses
import functools

import pytest
import torch

from executorch.backends.test.conformance.backend import Backend, all_backends
from executorch.extension.pybindings import portable_lib
from executorch.test.e2e.build_tree import loadable

pytest.register_assert_rewrite("executorch.backends.test.conformance.checks")
from executorch.backends.test.conformance import checks  # noqa: E402
from executorch.backends.test.conformance.checks import *  # noqa: E402, F403

BACKENDS = all_backends()
BY_REFERENCE = {
    f"{name} by its reference": dataclasses.replace(each, library="", runtime=False)
    for name, each in BACKENDS.items()
    if each.reference and each.runtime  # else it is run by that alone
}


def test_backends_are_found_by_their_hooks() -> None:
    assert {"SkeletonBackend", "XnnpackBackend"} <= set(BACKENDS)
    assert "SkeletonBackend by its reference" in BY_REFERENCE


@functools.cache
def loaded(name: str) -> Backend:
    found = BACKENDS[name]
    if found.library:
        try:
            found = dataclasses.replace(found, library=str(loadable(found.library)))
        except FileNotFoundError:
            return dataclasses.replace(found, library="", runtime=False)
    found.load_runtime()
    is_here = found.id in portable_lib._get_registered_backend_names()
    return dataclasses.replace(found, runtime=is_here)


@pytest.fixture(params=[*BACKENDS, *BY_REFERENCE])
def backend(request: pytest.FixtureRequest) -> Backend:
    torch.manual_seed(0)  # 8-bit values of other inputs are rounded otherwise
    found = BY_REFERENCE.get(request.param) or loaded(request.param)
    if found.why_missing():
        pytest.skip(found.why_missing())
    return found


def test_most_checks_need_no_runtime() -> None:
    """A backend of which the runtime half is not built is still held to what its compiler does."""
    needs = [getattr(each, "needs", "") for name, each in vars(checks).items() if "test_" in name]
    assert needs.count("") >= 9 and needs.count("runtime") <= 7, needs
