# SPDX-License-Identifier: BSD-3-Clause
"""What the examples' commands take: nothing but --help."""

from __future__ import annotations

import argparse
from collections.abc import Callable


def run(example: Callable[[], None], doc: str | None) -> None:
    """`doc`: of the example's module: what it does, and the documents' command, which is of the sources' root."""
    about, _, command = (doc or "").partition("\n\n")
    anywhere = command.strip().replace("-m examples.", "-m executorch.examples.")
    argparse.ArgumentParser(
        description=about, epilog=anywhere and f"example: {anywhere}"
    ).parse_args()
    example()
