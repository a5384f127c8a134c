# SPDX-License-Identifier: BSD-3-Clause
"""The Python module over the vendor's compiler, which no wheel has: that of the build, for tests of the wheel, too."""

from __future__ import annotations

from executorch.backends import skeleton_compiler
from executorch.test.e2e.build_tree import build_folder


def use_build() -> None:
    """Where the package has none, the one of the build is found in its name."""
    folder = str(build_folder() / "backends" / "skeleton_compiler")
    if folder not in skeleton_compiler.__path__:
        skeleton_compiler.__path__.append(folder)
