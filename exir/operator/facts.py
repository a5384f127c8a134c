# SPDX-License-Identifier: BSD-3-Clause
"""What the op tables of this package's kernel libraries (kernels/*/*.yaml) say of an operator: the one place that lists
its facts."""

from __future__ import annotations

import functools
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import yaml

_KERNELS = Path(__file__).resolve().parents[2] / "kernels"
_TABLES = ("portable/functions.yaml", "quantized/quantized.yaml")

FUNCTION, NORM, REDUCTION, ARRANGE, RESAMPLE, ELEMENTWISE, FREE = (
    "function", "norm", "reduction", "arrange", "resample", "elementwise", "free",
)  # fmt: skip
KINDS_OF_WORK = (FUNCTION, NORM, REDUCTION, ARRANGE, RESAMPLE, ELEMENTWISE, FREE)


@dataclass(frozen=True)
class Facts:
    """`work`: one of KINDS_OF_WORK. `is_data_movement`: takes what nothing computes with. `complex`: whether it must
    take complex numbers (True) or refuses those that eager takes (False); None: it may refuse them."""

    work: str = ELEMENTWISE
    is_data_movement: bool = False
    complex: bool | None = None


@functools.cache
def operator_facts() -> dict[str, Facts]:
    """By name as programs spell it: `aten::add.out`."""
    found = {}
    for table in _TABLES:
        for row in _rows(_KERNELS / table):
            facts = {key: row[key] for key in ("work", "is_data_movement", "complex") if key in row}
            found[_name(row)] = Facts(**facts)
    return found


@functools.cache
def facts_by_name() -> dict[str, Facts]:
    """By the name that all its overloads have (`add`), of ATen and the dim order operators; what only some of them must
    take stays open."""
    found: dict[str, Facts] = {}
    for full, facts in operator_facts().items():
        namespace, _, rest = full.partition("::")
        if namespace != "quantized_decomposed":
            name = rest.partition(".")[0]
            refuses = False if facts.complex is False else None
            found[name] = Facts(facts.work, facts.is_data_movement, refuses)
    return found


def _rows(path: Path) -> list[dict[str, Any]]:
    loader = getattr(yaml, "CSafeLoader", yaml.SafeLoader)
    with path.open() as file:
        return yaml.load(file, loader)


def _name(row: dict[str, Any]) -> str:
    return f"aten::{row['op']}" if "op" in row else row["func"].partition("(")[0]
