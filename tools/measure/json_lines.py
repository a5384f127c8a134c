# SPDX-License-Identifier: BSD-3-Clause
"""Rows of results as JSON lines, written as soon as they are known; a later line takes the place of an earlier one."""

from __future__ import annotations

import json
from collections.abc import Callable, Hashable
from pathlib import Path
from typing import Any, TypeVar

Row = dict[str, Any]
Key = TypeVar("Key", bound=Hashable)


def append(path: Path, row: Row) -> None:
    path.parent.mkdir(parents=True, exist_ok=True)
    with path.open("a") as file:
        file.write(json.dumps(row) + "\n")


def read(path: Path, key: Callable[[Row], Key]) -> dict[Key, Row]:
    """The newest of each key, in the order in which keys came first; none where there is no file."""
    lines = path.read_text().splitlines() if path.exists() else []
    return {key(row): row for row in map(json.loads, lines)}


def read_merged(path: Path) -> dict[str, Row]:
    """By name; what a later row does not say stays."""
    found: dict[str, Row] = {}
    for row in map(json.loads, path.read_text().splitlines()):
        found[row["name"]] = {**found.get(row["name"], {}), **row}
    return found
