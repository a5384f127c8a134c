# SPDX-License-Identifier: BSD-3-Clause
"""Writes a selected-operators file from exactly one source of operator names."""

from __future__ import annotations

import argparse
import json
import re
import shlex
import sys
from enum import IntEnum
from pathlib import Path
from typing import Any

import yaml

from ..model_operators import model_operators
from ..op_table import SCALAR_TYPES, read_yaml, row_name
from ..schema import SchemaError

ALL_KERNELS = ["default"]
# Numbers of dtypes in kernel keys; the last two have no kernels.
ScalarType = IntEnum("ScalarType", {**SCALAR_TYPES, "QUInt4X2": 16, "QUInt2X4": 17})


class KernelType(IntEnum):
    """Numbers that a program has for its kinds of values, of those with dtypes."""

    TENSOR = 5
    TENSOR_LIST = 10
    OPTIONAL_TENSOR_LIST = 11


def selection(kernels: dict[str, list[str]], source: str, *, include_all: bool) -> dict[str, Any]:
    """The content of the file for a map of operator name to kernel keys."""
    operator = {
        "is_root_operator": True,
        "is_used_for_training": True,
        "include_all_overloads": False,
        "debug_info": [source],
    }
    return {
        "include_all_non_op_selectives": include_all,
        "include_all_operators": include_all,
        "debug_info": [source],
        "operators": {name: dict(operator) for name in sorted(kernels)},
        "kernel_metadata": {},
        "et_kernel_metadata": {name: list(keys) for name, keys in sorted(kernels.items())},
        "custom_classes": [],
        "build_features": [],
    }


def create_kernel_key(maybe_kernel_key: str) -> str:
    """The kernel key of a dtype's name: `v1/6;` for `Float`, in any order of dims. Keys stay as they are."""
    if maybe_kernel_key.startswith("v1") or maybe_kernel_key in ALL_KERNELS:
        return maybe_kernel_key
    if maybe_kernel_key not in ScalarType.__members__:
        names = ", ".join(ScalarType.__members__)
        raise ValueError(
            f"Unknown dtype: {maybe_kernel_key}; expected a kernel key or one of {names}"
        )
    return f"v1/{ScalarType[maybe_kernel_key].value};"


def _operators_of_models(paths: str) -> dict[str, list[str]]:
    keys: dict[str, dict[str, None]] = {}
    for path in filter(None, re.split("[,;]", paths)):
        for name, found in model_operators(Path(path.strip())).items():
            keys.setdefault(name, {}).update(dict.fromkeys(found))
    return {name: list(found) for name, found in keys.items()}


def _full_name(name: str) -> str:
    return name if "::" in name else f"aten::{name}"


def gen_oplist(
    output_path: Path | str,
    model_file_path: str | None = None,
    ops_schema_yaml_path: str | None = None,
    root_ops: str | None = None,
    ops_dict: str | None = None,
    include_all_operators: bool = False,
) -> None:
    """Writes the selection of the one source that is given. `model_file_path` may be several, divided by commas or
    semicolons: what any of them calls is selected.

    Raises ValueError when none or several are given, or when the source cannot be read.
    """
    sources = {
        "model_file_path": model_file_path,
        "ops_schema_yaml_path": ops_schema_yaml_path,
        "root_ops": root_ops,
        "ops_dict": ops_dict,
        "include_all_operators": include_all_operators,
    }
    given = [name for name, value in sources.items() if value]
    if len(given) != 1:
        found = ", ".join(given) or "none"
        raise ValueError(f"expected exactly one of {', '.join(sources)}; found {found}")
    kernels: dict[str, list[str]] = {}
    if model_file_path:
        kernels = _operators_of_models(model_file_path)
    elif ops_schema_yaml_path:
        rows = read_yaml(Path(ops_schema_yaml_path))
        kernels = {_full_name(row_name(row)): ALL_KERNELS for row in rows}
    elif root_ops:
        names = [name for name in re.split(r"[, ]+", root_ops) if name]
        kernels = {_full_name(name): ALL_KERNELS for name in names}
    elif ops_dict:
        loaded = json.loads(ops_dict)
        kernels = {
            _full_name(name): [create_kernel_key(key) for key in keys] or ALL_KERNELS
            for name, keys in loaded.items()
        }
    content = selection(kernels, given[0], include_all=include_all_operators)
    path = Path(output_path)
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_text(yaml.safe_dump(content, sort_keys=False))


def main(args: list[str] | None = None) -> None:
    """Raises RuntimeError with the reason and the command."""
    parser = argparse.ArgumentParser(
        description=__doc__,
        epilog="e.g. python -m executorch.codegen.tools.gen_oplist --output_path ops.yaml --model_file_path mv2.pte",
    )
    add = parser.add_argument
    add("--output_path", "--output-path", required=True)
    add(
        "--model_file_path",
        "--model-file-path",
        help="a .pte, or several divided by commas",
    )
    add("--ops_schema_yaml_path", "--ops-schema-yaml-path", help="an op table: all its rows")
    add("--root_ops", "--root-ops", help="operator names divided by commas or spaces")
    add("--ops_dict", "--ops-dict", help="JSON: operator name to kernel keys or names of dtypes")
    add("--include-all-operators", "--include_all_operators", action="store_true")
    options = parser.parse_args(args)
    try:
        gen_oplist(**vars(options))
    except (SchemaError, OSError, ValueError, yaml.YAMLError) as error:
        words = [f"--{name}={value}" for name, value in vars(options).items() if value]
        raise RuntimeError(
            f"Failed to generate selected_operators.yaml. {error}\nRepro command: python -m "
            f"executorch.codegen.tools.gen_oplist {shlex.join(words)}"
        ) from error


if __name__ == "__main__":
    try:
        main()
    except RuntimeError as error:
        sys.exit(f"error: {error}")
