# SPDX-License-Identifier: BSD-3-Clause
"""Code blocks of pages/: those of the documents, the changes that make them run today, and running them."""

from __future__ import annotations

import hashlib
import re
from pathlib import Path
from typing import Any

FOLDER = Path(__file__).parent / "pages"
WITH_TORCHAO = "corrected-with-torchao"
OWN = {"corrected", WITH_TORCHAO}
_BLOCK = re.compile(
    r"^```(?P<language>\w+) (?P<name>\S+)\n(?P<code>.*?)^```\n*"
    r"(?:\| printed \| today \|\n\|---\|---\|\n(?P<changes>(?:\|[^\n]*\|\n)+))?",
    re.S | re.M,
)
_ROW = re.compile(r"\| `(.*?)` \| (.*) \|")  # several lines of code are joined by ", then "


def fingerprint(code: str) -> str:
    """Of the code without white space."""
    return hashlib.sha256(re.sub(r"\s+", "", code).encode()).hexdigest()


def printed(page: str) -> dict[str, str]:
    """Name -> block, as the documents print it; blocks of our own are called otherwise."""
    found = _BLOCK.finditer((FOLDER / page).read_text())
    return {block["name"]: block["code"] for block in found if block["name"] not in OWN}


def today(page: str) -> list[str]:
    """The page's Python from top to bottom, with the changes of the tables; text blocks are not code."""
    code = []
    for block in _BLOCK.finditer((FOLDER / page).read_text()):
        if block["language"] == "python" and block["name"] != WITH_TORCHAO:
            code.append(_changed(block["code"], block["changes"] or ""))
    return code


def with_torchao(page: str) -> list[str]:
    """The page's blocks that run only where torchao is installed."""
    found = _BLOCK.finditer((FOLDER / page).read_text())
    return [block["code"] for block in found if block["name"] == WITH_TORCHAO]


def _changed(code: str, changes: str) -> str:
    """Applies a table of changes; each must apply."""
    for row in changes.splitlines():
        old, parts = _ROW.fullmatch(row).groups()
        new = "\n".join(part.strip("`") for part in parts.split(", then "))
        if old not in code:
            raise ValueError(f"{old!r} does not stand in the block:\n{code}")
        code = code.replace(old, new)
    return code


def run(code: str, names: dict[str, Any]) -> dict[str, Any]:
    exec(compile(code, "test/documents/pages", "exec"), names)
    return names
