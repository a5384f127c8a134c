# SPDX-License-Identifier: BSD-3-Clause
"""Merges two op tables into merged.yaml: an operator in both is taken from the first."""

from __future__ import annotations

import argparse
import sys
from pathlib import Path
from typing import Any

import yaml

from codegen.op_table import read_yaml, row_name
from codegen.schema import SchemaError


def merge(first: list[dict[str, Any]], fallback: list[dict[str, Any]]) -> list[dict[str, Any]]:
    """All rows of `first`, then those of `fallback` for other operators."""
    taken = {_full_name(row) for row in first}
    return first + [row for row in fallback if _full_name(row) not in taken]


def _full_name(row: dict[str, Any]) -> str:
    name = row_name(row)
    return name if "::" in name else f"aten::{name}"


def main(argv: list[str] | None = None) -> int:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--functions-yaml-path", "--functions_yaml_path", type=Path, required=True)
    parser.add_argument("--fallback-yaml-path", "--fallback_yaml_path", type=Path)
    parser.add_argument("--output_dir", "--output-dir", type=Path, required=True)
    options = parser.parse_args(argv)
    try:
        rows = read_yaml(options.functions_yaml_path)
        if options.fallback_yaml_path is not None:
            rows = merge(rows, read_yaml(options.fallback_yaml_path))
    except (SchemaError, OSError, yaml.YAMLError) as error:
        print(f"error: {error}", file=sys.stderr)
        return 1
    options.output_dir.mkdir(parents=True, exist_ok=True)
    (options.output_dir / "merged.yaml").write_text(yaml.safe_dump(rows, sort_keys=False))
    return 0


if __name__ == "__main__":
    sys.exit(main())
