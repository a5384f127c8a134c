# SPDX-License-Identifier: BSD-3-Clause
"""Tests of this folder begin without the SDK's stand-ins, which the conformance suite leaves in place."""

import pytest

from executorch.backends.samsung.test import stand_in


@pytest.fixture(autouse=True)
def without_stand_in() -> None:
    stand_in.without_stand_in()
