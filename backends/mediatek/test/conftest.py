# SPDX-License-Identifier: BSD-3-Clause
"""Tests of this folder begin without the wheels' stand-ins, which the conformance suite leaves in place."""

import pytest

from executorch.backends.mediatek.test import stand_in


@pytest.fixture(autouse=True)
def without_stand_in() -> None:
    stand_in.without_stand_in()
