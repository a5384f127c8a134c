# SPDX-License-Identifier: BSD-3-Clause
"""The op table of a kernel library: reading the yaml, and the kernel keys of specialised rows."""

from __future__ import annotations

import itertools
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import yaml

from .schema import Schema, SchemaError, SchemaSource, parse_schema

# Numbers of dtypes in kernel keys.
SCALAR_TYPES = {
    name: number
    for number, name in enumerate(
        "Byte Char Short Int Long Half Float Double ComplexHalf ComplexFloat ComplexDouble Bool"
        " QInt8 QUInt8 QInt32 BFloat16".split()
    )
}


@dataclass(frozen=True)
class Kernel:
    """A C++ function for an operator; `keys` is empty when it takes all dtypes and dim orders."""

    function: str
    keys: tuple[str, ...]

    @property
    def cpp_namespace(self) -> str:
        namespace, _, _ = self.function.rpartition("::")
        return f"{namespace or 'torch::executor'}::native"

    @property
    def cpp_name(self) -> str:
        return self.function.rpartition("::")[2]

    @property
    def qualified(self) -> str:
        return f"{self.cpp_namespace}::{self.cpp_name}"


@dataclass(frozen=True)
class Row:
    """One operator of the table with its kernels."""

    schema: Schema
    kernels: tuple[Kernel, ...]
    is_custom: bool


def row_name(row: dict[str, Any]) -> str:
    """The operator a yaml row is for: `add.out`, or the full name of a `func` row's schema."""
    if "op" in row:
        return str(row["op"])
    if "func" in row:
        return parse_schema(str(row["func"])).qualified_name
    raise SchemaError(f"row has neither `op` nor `func`: {row}")


def read_yaml(path: Path) -> list[dict[str, Any]]:
    """The rows of a table file; an empty file is an empty table."""
    rows = yaml.safe_load(path.read_text()) or []
    if not isinstance(rows, list):
        raise SchemaError(f"{path}: expected a list of rows, found {type(rows).__name__}")
    return rows


def read_table(path: Path, schemas: SchemaSource) -> list[Row]:
    """Reads and resolves a table; raises SchemaError naming the row that is wrong."""
    rows = read_yaml(path)
    aten = schemas.find(str(r["op"]) for r in rows if "op" in r)
    table, seen = [], set()
    for row in rows:
        name = row_name(row)
        schema = aten[name] if "op" in row else parse_schema(str(row["func"]))
        if schema.qualified_name in seen:
            raise SchemaError(f"{path}: {schema.qualified_name} is listed twice")
        seen.add(schema.qualified_name)
        if not row.get("kernels"):
            raise SchemaError(f"{path}: {name} has no kernels")
        kernels = tuple(_kernel(schema, row, k) for k in row["kernels"])
        table.append(Row(schema, kernels, is_custom="func" in row))
    return table


def _kernel(schema: Schema, row: dict[str, Any], kernel: dict[str, Any]) -> Kernel:
    meta = kernel.get("arg_meta")
    keys: tuple[str, ...] = ()
    if meta is not None:
        keys = _kernel_keys(schema, meta, row.get("type_alias", {}), row.get("dim_order_alias", {}))
    return Kernel(str(kernel["kernel_name"]), keys)


def _kernel_keys(
    schema: Schema,
    meta: dict[str, list[str]],
    types: dict[str, list[str]],
    orders: dict[str, list[list[int]]],
) -> tuple[str, ...]:
    """One key for each combination of the aliases; outputs count again as returned values."""
    tensors = [a for a in schema.arguments if a.type in ("Tensor", "Tensor!")]
    tensors += [a for a in tensors if a.is_written]
    for argument in tensors:
        if argument.name not in meta:
            raise SchemaError(f"{schema.qualified_name}: arg_meta lacks tensor {argument.name}")
    used_types = sorted({meta[a.name][0] for a in tensors})
    used_orders = sorted({meta[a.name][1] for a in tensors})
    for alias in [*used_types, *used_orders]:
        if alias not in types and alias not in orders:
            raise SchemaError(f"{schema.qualified_name}: unknown alias {alias} in arg_meta")
    keys = []
    for type_choice in itertools.product(*(types[t] for t in used_types)):
        for order_choice in itertools.product(*(orders[o] for o in used_orders)):
            chosen_types = dict(zip(used_types, type_choice, strict=True))
            chosen_orders = dict(zip(used_orders, order_choice, strict=True))
            parts = []
            for argument in tensors:
                type_alias, order_alias = meta[argument.name]
                order = ",".join(str(d) for d in chosen_orders[order_alias])
                parts.append(f"{SCALAR_TYPES[chosen_types[type_alias]]};{order}")
            keys.append("v1/" + "|".join(parts))
    return tuple(dict.fromkeys(keys))
