# SPDX-License-Identifier: BSD-3-Clause
"""What a check needs: a runtime, or values, which a reference gives, too. Most need neither."""

from __future__ import annotations

import functools
from collections.abc import Callable
from typing import Any

import pytest

from executorch.backends.test.conformance.backend import Backend, KernelBackend

Check = Callable[[Any], None]


def _only(check: Check, what: str, why_not: Callable[[Any], str]) -> Check:
    @functools.wraps(check)
    def run(backend: Any) -> None:
        reason = why_not(backend)
        if reason:
            pytest.skip(reason)
        check(backend)

    run.needs = what
    return run


def _no_runtime(backend: Backend | KernelBackend) -> str:
    return "" if backend.runtime else f"the runtime half of {backend.id} is not here"


def _no_values(backend: Backend) -> str:
    return "" if backend.reference else _no_runtime(backend)


def needs_runtime(check: Check) -> Check:
    return _only(check, "runtime", _no_runtime)


def needs_values(check: Check) -> Check:
    """Of the runtime, or else of the backend's reference."""
    return _only(check, "values", _no_values)
