# SPDX-License-Identifier: BSD-3-Clause
"""What a release has of others: third-party sources (scripts/fetch_sources.sh) and Python packages (pyproject.toml)."""

from __future__ import annotations

import re
from collections.abc import Iterator
from dataclasses import dataclass
from functools import cache
from importlib import metadata
from pathlib import Path
from typing import Any

from packaging.requirements import Requirement

try:
    import tomllib  # novermin: Python 3.11's
except ImportError:
    import tomli as tomllib  # comes with scikit-build-core

_TABLE = re.compile(r"^table='\n(.+?)^'", re.M | re.S)
_VERSION = re.compile(r"_(.+)\.orig\.tar\.\w+$")
# Packages that are needed to build and whose headers are compiled into programs (flatc brings FlatBuffers').
COMPILED_IN = ("flatc", "pybind11")


@dataclass(frozen=True)
class Source:
    """A tarball that the build compiles, or a file of the repository."""

    name: str
    version: str
    sha256: str
    licence: str
    file: str


# What stands in the repository as it was released, beside its licence.
VENDORED = (
    Source(
        "marked",
        "4.2.3",
        "dd1daf17130c61fcaf12e534727e2ec044d629e0e4976a0ba2e6a53fd55aeebb",
        "MIT AND BSD-3-Clause",
        "extension/llm/server/page/marked.js",
    ),
)


@dataclass(frozen=True)
class Package:
    """A Python package; `use` is `run`, `build` or the name of an extra."""

    requirement: Requirement
    use: str
    licence: str


@cache
def project(root: Path) -> dict[str, Any]:
    return tomllib.loads((root / "pyproject.toml").read_text(encoding="utf-8"))


def sources(root: Path, cache_folder: Path) -> list[Source]:
    """One for each component: what lies unpacked in the cache, else what is tried first."""
    table = _TABLE.search((root / "scripts" / "fetch_sources.sh").read_text(encoding="utf-8"))
    if not table:
        raise ValueError(f"scripts/fetch_sources.sh in {root}: expected a table of sources")
    found: dict[str, Source] = {}
    for line in table[1].splitlines():
        name, path, sha256, licence = line.split(maxsplit=3)
        version = _VERSION.search(path)
        if not version:
            raise ValueError(f"{path}: expected a name such as json_3.11.3.orig.tar.gz")
        row = Source(name, version[1], sha256, licence, path.rpartition("/")[2])
        unpacked = cache_folder / "src" / name / ".tarball"
        if name not in found or (unpacked.is_file() and unpacked.read_text().strip() == row.file):
            found[name] = row
    return sorted(found.values(), key=lambda each: each.name)


def packages(root: Path, extras: dict[str, list[str]]) -> Iterator[Package]:
    """Those to run with, those to build with, those of each extra."""
    described = project(root)
    uses = {
        "run": described["project"]["dependencies"],
        "build": described["build-system"]["requires"],
    }
    for use, words in (uses | extras).items():
        for word in words:
            requirement = Requirement(word)
            yield Package(requirement, use, licence(requirement.name))


@cache
def licence(name: str) -> str:
    """As the installed package says; empty where it is not installed or says nothing short."""
    try:
        described = metadata.metadata(name)
    except metadata.PackageNotFoundError:
        return ""
    classes = [
        each for each in described.get_all("Classifier") or () if each.startswith("License ::")
    ]
    written = described.get("License") or ""
    if (
        "\n" in written or len(written) > 60 or written == "UNKNOWN"
    ):  # some have the whole text there
        written = ""
    return (
        described.get("License-Expression") or written or "".join(classes[:1]).rpartition(" :: ")[2]
    )
