# SPDX-License-Identifier: BSD-3-Clause
"""What tests that run what they lower ask of the machine."""

from __future__ import annotations

import re
from pathlib import Path

import pytest

from executorch.extension.pybindings.portable_lib import _get_registered_backend_names

CPUINFO = Path("/proc/cpuinfo")


def computes_halves() -> bool:
    """Whether delegates compute half precision as such: elsewhere in float32, and round what they give."""
    text = CPUINFO.read_text() if CPUINFO.exists() else ""
    return re.search(r"\b(avx512_fp16|asimdhp)\b", text) is not None


needs_runtime = pytest.mark.skipif(
    "XnnpackBackend" not in _get_registered_backend_names(),
    reason="built without EXECUTORCH_BUILD_XNNPACK",
)
