# SPDX-License-Identifier: BSD-3-Clause
"""The stand-in for NXP's SDK, for tests that ask for it alone."""

import sys
from collections.abc import Iterator

import pytest

from executorch.backends.nxp.aot.compiler import COMPILER
from executorch.backends.nxp.test import stand_in


@pytest.fixture
def stand_in_sdk() -> Iterator[None]:
    path, modules = list(sys.path), set(sys.modules)
    stand_in.use_stand_in()
    COMPILER._made.clear()
    yield
    COMPILER._made.clear()
    sys.path[:] = path
    for name in set(sys.modules) - modules:
        if name.startswith("eiq_neutron_sdk"):
            del sys.modules[name]
