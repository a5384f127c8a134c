# SPDX-License-Identifier: BSD-3-Clause
"""What every backend must do: the checks of executorch, on this one."""

import pytest
import skeleton

from executorch.backends.test.conformance.backend import Backend

pytest.register_assert_rewrite("executorch.backends.test.conformance.checks")
from skeleton.aot.partitioner import SkeletonPartitioner  # noqa: E402

from executorch.backends.test.conformance.checks import *  # noqa: E402, F403
from executorch.runtime import Runtime  # noqa: E402

BACKEND = Backend(
    "SkeletonBackend", SkeletonPartitioner, library=str(skeleton.LIBRARY), dynamic_shapes=False
)


@pytest.fixture
def backend() -> Backend:
    BACKEND.load_runtime()
    return BACKEND


def test_it_is_registered_under_its_name(backend: Backend) -> None:
    names = Runtime.get().backend_registry.registered_backend_names
    assert backend.id in names
