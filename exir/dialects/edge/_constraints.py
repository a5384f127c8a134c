# SPDX-License-Identifier: BSD-3-Clause
"""Dtype constraints of edge operators, read from edge.yaml."""

from __future__ import annotations

import functools
import pathlib
from dataclasses import dataclass
from typing import Any

import torch

_DTYPES: dict[str, torch.dtype] = {
    "Bool": torch.bool,
    "Byte": torch.uint8,
    "Char": torch.int8,
    "Short": torch.int16,
    "Int": torch.int32,
    "Long": torch.int64,
    "Half": torch.float16,
    "BFloat16": torch.bfloat16,
    "Float": torch.float32,
    "Double": torch.float64,
}


@dataclass(frozen=True)
class DtypeConstraints:
    """`rows`: each maps argument names (returns: `__ret_0`...) to dtypes; one row must hold for a call."""

    rows: tuple[dict[str, frozenset[torch.dtype]], ...]

    def allowed(self, argument: str) -> set[torch.dtype] | None:
        sets = [row[argument] for row in self.rows if argument in row]
        return set().union(*sets) if sets else None

    def accepts(self, dtypes: dict[str, torch.dtype]) -> bool:
        """True when one row allows every given argument's dtype."""
        return any(
            all(name not in row or dtype in row[name] for name, dtype in dtypes.items())
            for row in self.rows
        )


def constraints_of(op: torch._ops.OpOverload) -> DtypeConstraints | None:
    return _table().get(op.name())


@functools.cache
def _table() -> dict[str, DtypeConstraints]:
    path = pathlib.Path(__file__).with_name("edge.yaml")
    if not path.exists():
        return {}
    import yaml

    entries = yaml.safe_load(path.read_text())
    return {_torch_name(entry["inherits"]): _parse(entry) for entry in entries}


def _torch_name(inherits: str) -> str:
    return inherits.removesuffix(".default")


def _parse(entry: dict[str, Any]) -> DtypeConstraints:
    aliases = {
        alias: frozenset(_DTYPES[name] for name in names)
        for alias, names in entry["type_alias"].items()
    }
    rows = tuple(
        {argument: aliases[alias] for argument, alias in row.items()}
        for row in entry["type_constraint"]
    )
    return DtypeConstraints(rows)
