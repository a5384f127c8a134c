# SPDX-License-Identifier: BSD-3-Clause
"""Dtype constraints of edge operators, read from edge.yaml. In a row, arguments with the same alias have the same
dtype."""

from __future__ import annotations

import functools
import pathlib
from dataclasses import dataclass
from typing import Any

import torch

DTYPES: dict[str, torch.dtype] = {
    "Bool": torch.bool,
    "Byte": torch.uint8,
    "Char": torch.int8,
    "Short": torch.int16,
    "Int": torch.int32,
    "Long": torch.int64,
    "Float": torch.float32,
    "Double": torch.float64,
}


@dataclass(frozen=True)
class DtypeConstraints:
    """`rows`: each maps argument names (returns: `__ret_0`...) to aliases; one row must hold for a call."""

    aliases: dict[str, frozenset[torch.dtype]]
    rows: tuple[dict[str, str], ...]

    def allowed(self, argument: str) -> set[torch.dtype] | None:
        sets = [self.aliases[row[argument]] for row in self.rows if argument in row]
        return set().union(*sets) if sets else None

    def accepts(self, dtypes: dict[str, torch.dtype]) -> bool:
        """True when one row allows all the given dtypes together."""
        return any(self._row_accepts(row, dtypes) for row in self.rows)

    validate = accepts

    def _row_accepts(self, row: dict[str, str], dtypes: dict[str, torch.dtype]) -> bool:
        bound: dict[str, torch.dtype] = {}
        for name, dtype in dtypes.items():
            alias = row.get(name)
            if alias is None:
                continue
            if dtype not in self.aliases[alias] or bound.setdefault(alias, dtype) != dtype:
                return False
        return True


def constraints_of(op: torch._ops.OpOverload) -> DtypeConstraints | None:
    """The constraints of a torch operator; None when the table has none."""
    return _table().get(op.name())


@functools.cache
def _table() -> dict[str, DtypeConstraints]:
    import yaml

    entries = yaml.safe_load(pathlib.Path(__file__).with_name("edge.yaml").read_text())
    return {entry["inherits"]: _parse(entry) for entry in entries}


def _parse(entry: dict[str, Any]) -> DtypeConstraints:
    aliases = {
        alias: frozenset(DTYPES[name] for name in names)
        for alias, names in entry["type_alias"].items()
    }
    return DtypeConstraints(aliases, tuple(entry["type_constraint"]))
