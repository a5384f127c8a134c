# SPDX-License-Identifier: BSD-3-Clause
"""Op tables as torchgen's classes, with the kernels of each operator by key."""

from __future__ import annotations

from collections import defaultdict
from typing import Any

import yaml
from torchgen.gen import LineLoader, parse_native_yaml
from torchgen.model import (
    BackendMetadata,
    DispatchKey,
    FunctionSchema,
    NativeFunction,
    OperatorName,
)
from torchgen.utils import NamespaceHelper

from .model import ETKernelIndex, ETKernelKey, ETParsedYaml

__all__ = [
    "ETParsedYaml",
    "extract_kernel_fields",
    "parse_et_yaml",
    "parse_et_yaml_struct",
    "parse_from_yaml",
    "strip_et_fields",
]

# What rows of an op table have that torchgen's rows do not.
ET_FIELDS = ["kernels", "type_alias", "dim_order_alias"]
_LINE = "__line__"  # torchgen's loader adds the line to each mapping


def parse_et_yaml_struct(es: object) -> ETKernelIndex:
    """The kernels of parsed rows; rows without kernels are left out."""
    assert isinstance(es, list), f"expected a list of rows, found a {type(es).__name__}"
    index: dict[OperatorName, dict[ETKernelKey, BackendMetadata]] = {}
    for row in es:
        kernels = row.get("kernels")
        if not kernels:
            continue
        name = _operator(row)
        assert name not in index, f"Duplicate func found in yaml: {name} already"
        index[name] = parse_from_yaml(row)
    return ETKernelIndex(index)


def parse_from_yaml(ei: dict[str, Any]) -> dict[ETKernelKey, BackendMetadata]:
    """The kernels of one row by key; none of a row without."""
    by_key: dict[ETKernelKey, BackendMetadata] = {}
    for kernel in ei.get("kernels") or ():
        for key in _keys(kernel, ei):
            assert key not in by_key, f"Duplicate kernel key: {key} of {ei.get('func')}"
            by_key[key] = _metadata(str(kernel["kernel_name"]))
    return by_key


def _operator(row: dict[str, Any]) -> OperatorName:
    helper = NamespaceHelper.from_namespaced_entity(str(row["func"]), max_level=3)
    return FunctionSchema.parse(helper.entity_name).name


def _keys(kernel: dict[str, Any], row: dict[str, Any]) -> list[ETKernelKey]:
    meta = kernel.get("arg_meta")
    if not meta:
        return [ETKernelKey(default=True)]
    types, orders = (_plain(row.get(field)) for field in ("type_alias", "dim_order_alias"))
    return ETKernelKey.gen_from_yaml(_plain(meta), types, orders)


def _plain(mapping: dict[str, Any] | None) -> dict[str, Any]:
    return {key: value for key, value in (mapping or {}).items() if key != _LINE}


def _metadata(kernel: str) -> BackendMetadata:
    helper = NamespaceHelper.from_namespaced_entity(kernel, max_level=3)
    namespace = helper.get_cpp_namespace(default="at")
    return BackendMetadata(helper.entity_name, False, f"{namespace}::native")


def strip_et_fields(es: object) -> None:
    """Takes ET_FIELDS out of parsed rows, in place: what is left torchgen reads."""
    for row in es:  # type: ignore[attr-defined]
        for field in ET_FIELDS:
            row.pop(field, None)


def extract_kernel_fields(es: object) -> dict[OperatorName, dict[str, Any]]:
    """ET_FIELDS of parsed rows by operator."""
    fields: dict[OperatorName, dict[str, Any]] = defaultdict(dict)
    for row in es:  # type: ignore[attr-defined]
        fields[_operator(row)].update({f: row[f] for f in ET_FIELDS if row.get(f) is not None})
    return fields


def parse_et_yaml(
    path: str,
    tags_yaml_path: str,
    ignore_keys: set[DispatchKey] | None = None,
    skip_native_fns_gen: bool = False,
) -> tuple[list[NativeFunction], dict[OperatorName, dict[str, Any]]]:
    """torchgen's functions of a table of `func` rows, and what of each row torchgen does not read."""
    with open(path) as file:
        rows = yaml.load(file, Loader=LineLoader)
    fields = extract_kernel_fields(rows)
    strip_et_fields(rows)
    parsed = parse_native_yaml(
        path, tags_yaml_path, ignore_keys, skip_native_fns_gen=skip_native_fns_gen, loaded_yaml=rows
    )
    return parsed.native_functions, fields
