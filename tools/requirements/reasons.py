# SPDX-License-Identifier: BSD-3-Clause
"""What a reason of open.yaml may not say: that an area or a backend is missing which the tree has."""

import re
from collections.abc import Collection, Mapping
from pathlib import Path

from executorch.tools.requirements.rows import Requirement

_AREAS = re.compile(r"\bareas? (\d\d(?:(?:, | and | or | to )\d\d)*)")
_SPAN = re.compile(r"(\d\d)(?: to (\d\d))?")
_ABSENT = re.compile(
    r"\b(?:(?:is|are) not(?: here| there| in the tree)?$|(?:is|are) not (?:here|there|in the tree)"
    r"|until|comes? with|arrives?|later part|refused)"
)


def areas_here(rows: list[Requirement], named: Collection[str]) -> set[str]:
    """Numbers of the tables of which a test names a row."""
    return {row.area[:2] for row in rows if row.id in named}


def backends_here(folder: Path) -> set[str]:
    """Names of the folders, a vendor's own and those in it, that decide what a backend takes."""
    return {
        path.name
        for pattern in ("*", "*/*")
        for path in folder.glob(pattern)
        if path.is_dir()
        if [*path.glob("*partitioner.py"), *path.glob("backend.py"), *path.glob("partition")]
    }


def areas_in(text: str) -> set[str]:
    """`areas 09 to 11 and 14` -> 09, 10, 11, 14"""
    return {
        f"{number:02d}"
        for found in _AREAS.findall(text)
        for first, last in _SPAN.findall(found)
        for number in range(int(first), int(last or first) + 1)
    }


def outdated(
    reasons: Mapping[str, str], unbegun: Collection[str], areas: set[str], backends: set[str]
) -> list[str]:
    """What says that one of `areas` or `backends` is missing: reasons of rows, tables that nobody has begun with."""
    lines = [f"{table} has rows that tests name" for table in unbegun if table[:2] in areas]
    names = {name: _as_written(name) for name in backends}
    for row, why in reasons.items():
        lines += [f"{row}: area {area} is here" for area in sorted(areas_in(why) & areas)]
        for clause in re.split(r"[;:,.()]", why):
            matched = [name for name, written in names.items() if written.search(clause)]
            if _ABSENT.search(clause.strip()):
                lines += [f"{row}: {name} is here, not so:{clause}" for name in sorted(matched)]
    return lines


def _as_written(name: str) -> re.Pattern[str]:
    """cortex_m -> Cortex-M, coreml -> Core ML"""
    return re.compile(r"\b" + "[ _-]?".join(name.replace("_", "")) + r"\b", re.IGNORECASE)
