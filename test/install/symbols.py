# SPDX-License-Identifier: BSD-3-Clause
"""Which symbols a program or library asks for that the oldest machine of the release wheel's tag does not have."""

from __future__ import annotations

from pathlib import Path

from executorch.test.install.commands import command

# glibc 2.28, and the libraries of GCC 8.
LIMITS = {"GLIBC": (2, 28), "GLIBCXX": (3, 4, 24), "CXXABI": (1, 3, 11), "GCC": (7, 0, 0)}


def newer(binary: Path) -> dict[str, str]:
    """Their versions by their names, as the linker spells them."""
    found = {}
    for line in command("nm", "-D", "--undefined-only", binary).splitlines():
        name, _, asked = line.split()[-1].partition("@")
        library, _, number = asked.partition("_")
        version = tuple(map(int, number.split("."))) if number[:1].isdigit() else ()
        if library in LIMITS and version > LIMITS[library]:
            found[name] = asked
    return found
