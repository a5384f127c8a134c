# SPDX-License-Identifier: BSD-3-Clause
"""Which symbols a program or library asks for that the oldest machine of the release wheel's tag does not have."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

from executorch.test.install.commands import command

# glibc 2.28, and the libraries of GCC 8.
LIMITS = {"GLIBC": (2, 28), "GLIBCXX": (3, 4, 24), "CXXABI": (1, 3, 11), "GCC": (7, 0, 0)}


# What older linkers take from an archive beside glibc (libc_nonshared.a).
BESIDE = {"stat", "fstat", "lstat", "fstatat", "mknod"}


def newer(binary: Path) -> dict[str, str]:
    """Their versions by their names, as the linker spells them."""
    return {name: asked for name, asked in _symbols(binary, "undefined") if not _is_old(asked)}


def without_older_form(binary: Path) -> dict[str, str]:
    """Those of `newer` that a linker cannot take in an older form, because there was none."""
    libraries = [command("gcc", f"-print-file-name={name}") for name in ("libc.so.6", "libm.so.6")]
    glibc = {
        name
        for library in libraries
        for name, version in _symbols(Path(library.strip()), "defined")
        if _is_old(version)
    }
    return {name: asked for name, asked in newer(binary).items() if name not in glibc | BESIDE}


def _symbols(binary: Path, kind: str) -> Iterator[tuple[str, str]]:
    for line in command("nm", "-D", f"--{kind}-only", binary).splitlines():
        name, _, version = line.split()[-1].partition("@")
        yield name, version.lstrip("@")


def _is_old(version: str) -> bool:
    library, _, number = version.partition("_")
    if library not in LIMITS or not number[:1].isdigit():
        return library != "GLIBC"  # GLIBC_PRIVATE is of no use
    return tuple(map(int, number.split("."))) <= LIMITS[library]
