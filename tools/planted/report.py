# SPDX-License-Identifier: BSD-3-Clause
"""What came of the plants: a table by kind, and what no test noticed, with the reason or without one."""

from __future__ import annotations

from collections import Counter
from pathlib import Path
from typing import Any

import yaml

REASONS = Path(__file__).with_name("reasons.yaml")


def read_reasons(path: Path = REASONS) -> list[tuple[str, str]]:
    """(text of a plant's name, why no test can or need notice it)."""
    entries = yaml.safe_load(path.read_text()) or []
    return [(entry["plant"], entry["why"]) for entry in entries]


def reason_of(name: str, reasons: list[tuple[str, str]]) -> str:
    return next((why for text, why in reasons if text in name), "")


def report(
    rows: list[dict[str, Any]], reasons: list[tuple[str, str]]
) -> tuple[list[str], list[str]]:
    """The lines, and the names of what has neither a test nor a reason."""
    planted, noticed, excused = Counter[str](), Counter[str](), Counter[str]()
    bare, explained = [], []
    for row in rows:
        planted[row["kind"]] += 1
        why = reason_of(row["plant"], reasons)
        if row["noticed"]:
            noticed[row["kind"]] += 1
        elif why:
            excused[row["kind"]] += 1
            explained.append(f"  {row['plant']}\n      {why}")
        else:
            bare.append(row["plant"])
    lines = [f"{'kind':20s}{'planted':>9s}{'noticed':>9s}{'reason':>9s}{'neither':>9s}"]
    for kind, count in planted.items():
        neither = count - noticed[kind] - excused[kind]
        lines.append(f"{kind:20s}{count:9d}{noticed[kind]:9d}{excused[kind]:9d}{neither:9d}")
    lines += ["not noticed, for a reason:", *explained] if explained else []
    if bare:
        lines += ["no test noticed:", *(f"  {name}" for name in bare)]
    else:
        lines.append("no fault went unnoticed without a reason")
    return lines, bare
