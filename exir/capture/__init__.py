# SPDX-License-Identifier: BSD-3-Clause
"""Configuration of the compiler's stages."""

import importlib
from typing import Any

from executorch.exir.capture._config import (
    CaptureConfig,
    EdgeCompileConfig,
    ExecutorchBackendConfig,
)

_FROM_ABOVE = ("CallSpec", "_capture_legacy_do_not_use", "capture")


def __getattr__(name: str) -> Any:
    """`capture` and what belongs to it stand in a layer above; they are looked up when asked for."""
    if name in _FROM_ABOVE:
        return getattr(importlib.import_module("executorch.exir.capture._capture"), name)
    raise AttributeError(f"module {__name__!r} has no attribute {name!r}")


__all__ = [
    "CallSpec",
    "CaptureConfig",
    "EdgeCompileConfig",
    "ExecutorchBackendConfig",
    "_capture_legacy_do_not_use",
    "capture",
]
