# SPDX-License-Identifier: BSD-3-Clause
"""What the examples' commands take: nothing but --help."""

from __future__ import annotations

import argparse
from collections.abc import Callable


def run(example: Callable[[], None], doc: str | None) -> None:
    """`doc`: of the example's module; a line of what it does, and the command."""
    about, _, command = (doc or "").partition("\n\n")
    argparse.ArgumentParser(description=about, epilog=f"example: {command.strip()}").parse_args()
    example()
