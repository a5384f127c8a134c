# SPDX-License-Identifier: BSD-3-Clause
"""torchaudio, which two of the examples need."""

from __future__ import annotations

import importlib
from types import ModuleType


def torchaudio(name: str) -> ModuleType:
    """A module of it; SystemExit with the command that installs it."""
    try:
        return importlib.import_module(f"torchaudio.{name}")
    except ModuleNotFoundError as error:
        raise SystemExit(
            f"this example needs torchaudio: pip install torchaudio ({error})"
        ) from None
