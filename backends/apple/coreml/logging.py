# SPDX-License-Identifier: BSD-3-Clause
"""`get_coreml_log_level`: how much of coremltools' log is shown."""

from __future__ import annotations

import logging
import os

_VARIABLE = "ET_COREML_LOG_LEVEL"
_LEVELS = ("DEBUG", "INFO", "WARNING", "ERROR", "CRITICAL")


def get_coreml_log_level(default_level: int) -> int:
    """Of the environment variable ET_COREML_LOG_LEVEL; `default_level` without it."""
    level = os.environ.get(_VARIABLE, "").strip().upper()
    if not level:
        return default_level
    if level not in _LEVELS:
        raise ValueError(f"Invalid {_VARIABLE}: {level}; expected one of {', '.join(_LEVELS)}")
    return getattr(logging, level)
