# SPDX-License-Identifier: BSD-3-Clause
"""Reads what the last runs of pytest measured, and finds tests that are in the wrong tier."""

from __future__ import annotations

import xml.etree.ElementTree as ElementTree
from collections.abc import Iterable, Mapping
from pathlib import Path

from executorch.tools.tiers.plugin import MEGABYTES, SECONDS, SHARED
from executorch.tools.tiers.times import (
    OVER,
    ROOT,
    Cost,
    Tier,
    Times,
    proves_the_wheel,
    tier_of,
)


def name_of(case: ElementTree.Element, root: Path = ROOT) -> str | None:
    """pytest's name of a test: of `exir.emit_test.TestA` and `test_b[1]`, `exir/emit_test.py::TestA::test_b[1]`. None
    for a file that is not in the tree."""
    parts = [part for part in (case.get("classname") or "").split(".") if part]
    for length in range(len(parts), 0, -1):
        path = Path(*parts[:length]).with_suffix(".py")
        if (root / path).is_file():
            return "::".join((path.as_posix(), *parts[length:], case.get("name") or ""))
    return None


def seen(paths: Iterable[Path], root: Path = ROOT) -> dict[str, Cost]:
    """What each test that passed took, the newest file first."""
    found: dict[str, Cost] = {}
    for path in sorted(paths, key=lambda one: one.stat().st_mtime):
        for case in ElementTree.parse(path).iter("testcase"):
            name = name_of(case, root)
            properties = {e.get("name"): e.get("value", "0") for e in case.iter("property")}
            if name is None or {child.tag for child in case} & {"failure", "error", "skipped"}:
                continue
            memory = properties.get(MEGABYTES)
            found[name] = Cost(
                float(properties.get(SECONDS, 0)),
                float(properties.get(SHARED, 0)),
                None if memory is None else int(float(memory)),
            )
    return found


def misplaced(costs: Mapping[str, Cost], times: Times) -> dict[str, tuple[Tier, Cost]]:
    """Tests that took more than OVER times what their tier allows; those that prove the wheel are where they are."""
    found = {}
    for name, cost in costs.items():
        tier = tier_of(name, times)
        if cost.seconds > OVER * tier.seconds and not proves_the_wheel(name):
            found[name] = (tier, cost)
    return found
