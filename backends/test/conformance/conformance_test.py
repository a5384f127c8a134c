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


def asked(needs: str) -> list[str]:
    """Of a check. One that needs a runtime is asked of the backend that has it, and left out once for each id that has
    none on any computer: not again by its reference, or in another configuration."""
    if needs != "runtime":
        return [*BACKENDS, *BY_REFERENCE]
    first = {each.id: name for name, each in reversed(BACKENDS.items())}
    return [name for name, each in BACKENDS.items() if each.runtime or first[each.id] == name]


def pytest_generate_tests(metafunc: pytest.Metafunc) -> None:
    if "backend" in metafunc.fixturenames:
        needs = getattr(metafunc.function, "needs", "")
        metafunc.parametrize("backend", asked(needs), indirect=True)


@pytest.fixture
def backend(request: pytest.FixtureRequest) -> Backend:
    torch.manual_seed(0)  # 8-bit values of other inputs are rounded otherwise
    found = BY_REFERENCE.get(request.param) or loaded(request.param)
    if found.why_missing():
        pytest.skip(found.why_missing())
    return found


def test_nothing_is_left_out_twice() -> None:
    """Neither a check that runs for the same backend elsewhere, nor one that is left out for it already."""
    every = {**BACKENDS, **BY_REFERENCE}
    names = asked("runtime")
    without = [every[name].id for name in names if not every[name].runtime]
    assert len(without) == len(set(without))
    assert not {*without} & {every[name].id for name in names if every[name].runtime}
    assert {each.id for each in BACKENDS.values()} == {every[name].id for name in names}


def test_most_checks_need_no_runtime() -> None:
    """A backend of which the runtime half is not built is still held to what its compiler does."""
    needs = [getattr(each, "needs", "") for name, each in vars(checks).items() if "test_" in name]
    assert needs.count("") >= 9 and needs.count("runtime") <= 7, needs
