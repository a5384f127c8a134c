# SPDX-License-Identifier: BSD-3-Clause
"""Writes a selected-operators file from exactly one source of operator names."""

from __future__ import annotations

import argparse
import json
import sys
from pathlib import Path
from typing import Any

import yaml

from codegen.op_table import read_yaml, row_name
from codegen.schema import SchemaError

ALL_KERNELS = ["default"]


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


def _full_name(name: str) -> str:
    return name if "::" in name else f"aten::{name}"


def _operators(options: argparse.Namespace) -> dict[str, list[str]]:
    if options.root_ops:
        names = [n.strip() for n in options.root_ops.split(",") if n.strip()]
        return {_full_name(n): ALL_KERNELS for n in names}
    if options.ops_schema_yaml_path:
        rows = read_yaml(options.ops_schema_yaml_path)
        return {_full_name(row_name(r)): ALL_KERNELS for r in rows}
    if options.ops_dict:
        given = json.loads(options.ops_dict)
        return {_full_name(n): list(keys) or ALL_KERNELS for n, keys in given.items()}
    return {}


def main(argv: list[str] | None = None) -> int:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--output_path", "--output-path", type=Path, required=True)
    parser.add_argument("--ops_schema_yaml_path", "--ops-schema-yaml-path", type=Path)
    parser.add_argument("--root_ops", "--root-ops", help="operator names divided by commas")
    parser.add_argument("--ops_dict", "--ops-dict", help="JSON: operator name to kernel keys")
    parser.add_argument("--include-all-operators", "--include_all_operators", action="store_true")
    options = parser.parse_args(argv)
    sources = ["root_ops", "ops_schema_yaml_path", "ops_dict", "include_all_operators"]
    given = [name for name in sources if getattr(options, name)]
    if len(given) != 1:
        found = ", ".join(given) or "none"
        parser.error(f"expected exactly one of {', '.join(sources)}; found {found}")
    try:
        kernels = _operators(options)
    except (SchemaError, OSError, ValueError, yaml.YAMLError) as error:
        print(f"error: {error}", file=sys.stderr)
        return 1
    content = selection(kernels, given[0], include_all=options.include_all_operators)
    options.output_path.parent.mkdir(parents=True, exist_ok=True)
    options.output_path.write_text(yaml.safe_dump(content, sort_keys=False))
    return 0


if __name__ == "__main__":
    sys.exit(main())
