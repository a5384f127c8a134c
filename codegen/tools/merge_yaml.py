# SPDX-License-Identifier: BSD-3-Clause
"""Merges two op tables into merged.yaml: an operator in both is taken from the first."""

from __future__ import annotations

import argparse
import sys
from pathlib import Path
from typing import Any

import yaml

from ..op_table import read_yaml, row_name
from ..schema import SchemaError
from .yaml_util import BlankLineDumper


def merge(functions_yaml_path: str, fallback_yaml_path: str | None, output_dir: str) -> None:
    """Writes output_dir/merged.yaml: all rows of the first table, then those of the fallback for other operators."""
    rows = read_yaml(Path(functions_yaml_path))
    if fallback_yaml_path is not None:
        taken = {_full_name(row) for row in rows}
        fallback = read_yaml(Path(fallback_yaml_path))
        rows = rows + [row for row in fallback if _full_name(row) not in taken]
    folder = Path(output_dir)
    folder.mkdir(parents=True, exist_ok=True)
    text = yaml.dump(rows, Dumper=BlankLineDumper, sort_keys=False, width=10_000)
    (folder / "merged.yaml").write_text(text)


def _full_name(row: dict[str, Any]) -> str:
    name = row_name(row)
    return name if "::" in name else f"aten::{name}"


def main(argv: list[str] | None = None) -> int:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--functions-yaml-path", "--functions_yaml_path", required=True)
    parser.add_argument("--fallback-yaml-path", "--fallback_yaml_path")
    parser.add_argument("--output_dir", "--output-dir", required=True)
    options = parser.parse_args(argv)
    try:
        merge(options.functions_yaml_path, options.fallback_yaml_path, options.output_dir)
    except (SchemaError, OSError, yaml.YAMLError) as error:
        print(f"error: {error}", file=sys.stderr)
        return 1
    return 0


if __name__ == "__main__":
    sys.exit(main())
