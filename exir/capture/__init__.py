# SPDX-License-Identifier: BSD-3-Clause
"""Configuration of the compiler's stages."""

from typing import Any

from executorch.exir.capture._config import (
    CaptureConfig,
    EdgeCompileConfig,
    ExecutorchBackendConfig,
)


def __getattr__(name: str) -> Any:
    """`capture` and `CallSpec` come from a layer above; they are looked up when asked for."""
    if name in ("CallSpec", "capture"):
        from executorch.exir.program import _single_program

        return getattr(_single_program, name)
    raise AttributeError(f"module {__name__!r} has no attribute {name!r}")


__all__ = [
    "CallSpec",
    "CaptureConfig",
    "EdgeCompileConfig",
    "ExecutorchBackendConfig",
    "capture",
]
