# SPDX-License-Identifier: BSD-3-Clause
"""Dtype constraints of edge operators, read from edge.yaml. In a row, arguments with the same alias have the same
dtype."""

from __future__ import annotations

import functools
import pathlib
from collections.abc import Iterable
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


_FLOAT = frozenset({torch.float32, torch.float64})
_HALF = frozenset({torch.float16, torch.bfloat16})
_ANY = frozenset({*DTYPES.values(), *_HALF, torch.uint16, torch.complex64, torch.complex128})


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

    def _row_accepts(self, row: dict[str, str], dtypes: dict[str, torch.dtype]) -> bool:
        bound: dict[str, torch.dtype] = {}
        for name, dtype in dtypes.items():
            alias = row.get(name)
            if alias is None:
                continue
            if dtype not in self.aliases[alias] or bound.setdefault(alias, dtype) != dtype:
                return False
        return True


class AllowedDtypeSet:
    """Dtypes that one alias stands for. `reduce_to` settles on one of them, for as long as the set is used."""

    def __init__(self, types: Iterable[torch.dtype]) -> None:
        self.types = set(types)
        self._reduced: torch.dtype | None = None

    def __contains__(self, dtype: torch.dtype) -> bool:
        return dtype in self.types if self._reduced is None else dtype == self._reduced

    def reduce_to(self, t: torch.dtype) -> bool:
        """True when the set held `t`; from then on it holds nothing else."""
        if t not in self:
            return False
        self._reduced = t
        return True

    def clear(self) -> None:
        """Forgets what the set was reduced to."""
        self._reduced = None


class FunctionDtypeConstraint:
    """Which dtypes an operator's tensors may have together. `essential_tensor_io_names` are always there, those in
    `optional_tensor_io_names` may be None in a call."""

    def __init__(
        self,
        essential_tensor_io_names: list[str],
        optional_tensor_io_names: list[str],
        type_alias: dict[str, Iterable[torch.dtype]],
        type_constraint: list[dict[str, str]],
    ) -> None:
        self.essential_tensor_io_names = list(essential_tensor_io_names)
        self.optional_tensor_io_names = list(optional_tensor_io_names)
        self.type_alias = {alias: AllowedDtypeSet(types) for alias, types in type_alias.items()}
        self.type_constraint = list(type_constraint)
        types = {alias: frozenset(each.types) for alias, each in self.type_alias.items()}
        self._rows = DtypeConstraints(types, tuple(type_constraint))

    @classmethod
    def of(cls, schema: torch.FunctionSchema) -> FunctionDtypeConstraint:
        """Of a torch operator: what edge.yaml says, which documents print; `validate` takes half types where it has
        floats. Any dtype for operators of which it says nothing."""
        is_optional = {arg.name: "Optional" in str(arg.type) for arg in schema.arguments
                       if "Tensor" in str(arg.type)}  # fmt: skip
        is_optional |= {f"__ret_{place}": False for place, ret in enumerate(schema.returns)
                        if "Tensor" in str(ret.type)}  # fmt: skip
        names = list(is_optional)
        essential = [name for name in names if not is_optional[name]]
        optional = [name for name in names if is_optional[name]]
        table = constraints_of(schema)
        if table is None:
            aliases = {f"T{place}": _ANY for place in range(len(names))}
            row = {name: f"T{place}" for place, name in enumerate(names)}
            return cls(essential, optional, aliases, [row])
        rows = [dict.fromkeys(names, next(iter(row.values()))) | row for row in table.rows]
        made = cls(essential, optional, table.aliases, rows)
        with_half = {
            alias: types | _HALF if types >= _FLOAT else types
            for alias, types in table.aliases.items()
        }
        made._rows = DtypeConstraints(with_half, tuple(rows))
        return made

    def __contains__(self, key: str) -> bool:
        return key in self.essential_tensor_io_names or key in self.optional_tensor_io_names

    def __getitem__(self, key: str) -> set[torch.dtype]:
        """All dtypes that the argument or result may have."""
        aliases = {row[key] for row in self.type_constraint if key in row}
        return set().union(*(self.type_alias[alias].types for alias in aliases))

    def validate(self, types: dict[str, torch.dtype | None]) -> bool:
        """True when one row allows these dtypes together; None is a tensor that was not given. All names are known, and
        those that are always there are given."""
        given = {name: dtype for name, dtype in types.items() if dtype is not None}
        essential = self.essential_tensor_io_names
        if any(name not in self for name in given) or any(name not in given for name in essential):
            return False
        return self._rows.accepts(given)


def constraints_of(schema: torch.FunctionSchema) -> DtypeConstraints | None:
    """The constraints of the torch operator of this schema; None when the table has none."""
    overload = f".{schema.overload_name}" if schema.overload_name else ""
    return _table().get(schema.name + overload)


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
