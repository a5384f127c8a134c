# SPDX-License-Identifier: BSD-3-Clause
"""Mark of tests that run what they lower."""

from __future__ import annotations

import pytest

from executorch.extension.pybindings.portable_lib import _get_registered_backend_names

needs_runtime = pytest.mark.skipif(
    "XnnpackBackend" not in _get_registered_backend_names(),
    reason="built without EXECUTORCH_BUILD_XNNPACK",
)
