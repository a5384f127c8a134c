# SPDX-License-Identifier: BSD-3-Clause
"""The version of this package, from the file version.txt that every build reads."""

import importlib.metadata
from pathlib import Path

_SOURCE = Path(__file__).resolve().parents[2] / "version.txt"

__version__: str = (
    _SOURCE.read_text().strip() if _SOURCE.exists() else importlib.metadata.version("executorch")
)
