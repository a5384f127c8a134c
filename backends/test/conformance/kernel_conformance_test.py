# SPDX-License-Identifier: BSD-3-Clause
"""Every backend of this package that is kernels passes every check of kernel_checks.py."""

from __future__ import annotations

import dataclasses
import functools

import pytest
import torch

from executorch.backends.test.conformance.backend import KernelBackend, all_kernel_backends
from executorch.runtime import Runtime
from executorch.test.e2e.build_tree import load_backend

for _part in ("argument", "kernel"):
    pytest.register_assert_rewrite(f"executorch.backends.test.conformance.{_part}_checks")
from executorch.backends.test.conformance import kernel_checks  # noqa: E402
from executorch.backends.test.conformance.argument_checks import *  # noqa: E402, F403
from executorch.backends.test.conformance.kernel_checks import *  # noqa: E402, F403

BACKENDS = all_kernel_backends()


def test_kernel_backends_are_found_by_their_hooks() -> None:
    assert "skeleton_kernels" in BACKENDS


@functools.cache
def loaded(name: str) -> KernelBackend:
    found = BACKENDS[name]
    try:
        load_backend(found.library or found.name)
    except FileNotFoundError:  # those of the Python runtime itself need none
        names = Runtime.get().operator_registry.operator_names
        is_here = any(each.startswith(f"{found.namespace}::") for each in names)
        return dataclasses.replace(found, runtime=is_here)
    return found


@pytest.fixture(params=[*BACKENDS])
def backend(request: pytest.FixtureRequest) -> KernelBackend:
    torch.manual_seed(0)
    return loaded(request.param)


def test_most_checks_need_no_kernels() -> None:
    checks = [each for name, each in vars(kernel_checks).items() if name.startswith("test_")]
    needs = [getattr(each, "needs", "") for each in checks]
    assert needs.count("") >= 8 and needs.count("runtime") <= 4, needs
