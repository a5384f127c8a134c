# SPDX-License-Identifier: BSD-3-Clause
"""The op table of a kernel library: reading the yaml, and the kernel keys of specialised rows."""

from __future__ import annotations

import difflib
import itertools
from collections.abc import Iterable
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


# What a row and one of its kernels may have; other tools read the second and third lists.
ROW_KEYS = ("op", "func", "kernels", "type_alias", "dim_order_alias")
FACT_KEYS = ("work", "is_data_movement", "complex")  # exir/operator/facts.py
TORCHGEN_ROW_KEYS = (
    *("variants", "tags", "dispatch", "autogen", "python_module", "device_check", "device_guard"),
    *("structured", "structured_delegate", "structured_inherits", "cpp_no_default_args"),
    *("manual_cpp_binding", "manual_kernel_registration", "category_override", "precomputed"),
)
KERNEL_KEYS = ("arg_meta", "kernel_name")


class YamlRow(dict[str, Any]):
    """A row of a table file; `where` is its file and line."""

    where: str = ""


def row_name(row: dict[str, Any]) -> str:
    """The operator a yaml row is for: `add.out`, or the full name of a `func` row's schema."""
    if "op" in row:
        return str(row["op"])
    if "func" in row:
        try:
            return parse_schema(str(row["func"])).qualified_name
        except SchemaError as error:
            raise SchemaError(f"{_where(row)}{error}") from None
    raise SchemaError(f"{_where(row)}row has neither `op` nor `func`: {dict(row)}")


def _where(row: dict[str, Any]) -> str:
    return f"{row.where}: " if isinstance(row, YamlRow) else ""


def read_yaml(path: Path) -> list[dict[str, Any]]:
    """The rows of a table file; an empty file is an empty table. Raises SchemaError naming file and line."""
    loader = yaml.SafeLoader(path.read_text())
    loader.name = str(path)
    try:
        node = loader.get_single_node()
        if node is None:
            return []
        if not isinstance(node, yaml.SequenceNode):
            kind = {"map": "mapping", "str": "text"}.get(node.tag.rpartition(":")[2], node.tag)
            line = node.start_mark.line + 1
            raise SchemaError(f"{path}:{line}: expected a list of rows, found a {kind}")
        return [_read_row(loader, path, item) for item in node.value]
    except yaml.MarkedYAMLError as error:
        line = (error.problem_mark or error.context_mark).line + 1
        raise SchemaError(f"{path}:{line}: not YAML: {error.problem}") from None
    finally:
        loader.dispose()


def _read_row(loader: yaml.SafeLoader, path: Path, node: yaml.Node) -> YamlRow:
    where = f"{path}:{node.start_mark.line + 1}"
    content = loader.construct_object(node, deep=True)
    if not isinstance(content, dict):
        raise SchemaError(f"{where}: expected a row of keys, found {content!r}")
    row = YamlRow(content)
    row.where = where
    try:
        _check_keys(content, "a row", ROW_KEYS, FACT_KEYS + TORCHGEN_ROW_KEYS)
    except SchemaError as error:
        raise SchemaError(f"{where}: {error}") from None
    return row


def _check_keys(
    found: Iterable[str], what: str, ours: tuple[str, ...], others: tuple[str, ...] = ()
) -> None:
    for key in found:
        if key not in ours and key not in others:
            near = difflib.get_close_matches(str(key), ours, 1)
            hint = f"; did you mean {near[0]}?" if near else ""
            raise SchemaError(f"{what} has {', '.join(ours)}; found {key}{hint}")


def read_table(path: Path, schemas: SchemaSource) -> list[Row]:
    """Reads and resolves a table; raises SchemaError naming file and line of the row that is wrong."""
    rows = read_yaml(path)
    aten = _aten_schemas(rows, schemas)
    table: list[Row] = []
    seen: dict[str, str] = {}
    for row in rows:
        assert isinstance(row, YamlRow)
        name = row_name(row)
        schema = aten[name] if "op" in row else parse_schema(str(row["func"]))
        if first := seen.get(schema.qualified_name):
            raise SchemaError(
                f"{row.where}: {schema.qualified_name} is listed twice; first in {first}"
            )
        seen[schema.qualified_name] = row.where
        if not row.get("kernels"):
            raise SchemaError(f"{row.where}: {name} has no kernels")
        try:
            kernels = _kernels(schema, row)
        except SchemaError as error:
            raise SchemaError(f"{row.where}: {error}") from None
        table.append(Row(schema, kernels, is_custom="func" in row))
    return table


def _aten_schemas(rows: list[dict[str, Any]], schemas: SchemaSource) -> dict[str, Schema]:
    """All at once, which is fast; one by one to tell which row has a name that nothing knows."""
    named = [row for row in rows if "op" in row]
    try:
        return schemas.find(str(row["op"]) for row in named)
    except SchemaError:
        for row in named:
            try:
                schemas.find([str(row["op"])])
            except SchemaError as error:
                raise SchemaError(f"{_where(row)}{error}") from None
        raise


def _kernels(schema: Schema, row: YamlRow) -> tuple[Kernel, ...]:
    if not isinstance(row["kernels"], list):
        raise SchemaError(f"expected a list of kernels, found {row['kernels']!r}")
    kernels: list[Kernel] = []
    taken: dict[str, str] = {}
    for entry in row["kernels"]:
        if not isinstance(entry, dict):
            raise SchemaError(f"expected a kernel with {', '.join(KERNEL_KEYS)}, found {entry!r}")
        _check_keys(entry, "a kernel", KERNEL_KEYS)
        if not entry.get("kernel_name"):
            raise SchemaError(f"a kernel of {schema.qualified_name} lacks kernel_name: {entry}")
        kernel = _kernel(schema, row, entry)
        for key in kernel.keys or ("all dtypes and dim orders",):
            if other := taken.get(key):
                raise SchemaError(
                    f"{schema.qualified_name} has two kernels for {key}: {other} and {kernel.function}"
                )
            taken[key] = kernel.function
        kernels.append(kernel)
    return tuple(kernels)


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
