# SPDX-License-Identifier: BSD-3-Clause
"""Configuration of the compiler's stages."""

from executorch.exir.capture._config import (
    CaptureConfig,
    EdgeCompileConfig,
    ExecutorchBackendConfig,
)

__all__ = ["CaptureConfig", "EdgeCompileConfig", "ExecutorchBackendConfig"]
