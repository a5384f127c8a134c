# SPDX-License-Identifier: BSD-3-Clause
"""What tests have of this tree's build and no wheel has: modules over a vendor's stand-in, and where they lie."""

from __future__ import annotations

import os
from pathlib import Path
from types import ModuleType


def build_folder() -> Path:
    """EXECUTORCH_BUILD_DIR, else cmake-out of the tree."""
    return Path(
        os.environ.get("EXECUTORCH_BUILD_DIR", Path(__file__).resolve().parents[2] / "cmake-out")
    )


def use_build(package: ModuleType) -> None:
    """Modules that a backend's package lacks are found in its folder of the build."""
    folder = str(build_folder() / "backends" / package.__name__.rpartition(".")[2])
    if folder not in package.__path__:
        package.__path__.append(folder)
