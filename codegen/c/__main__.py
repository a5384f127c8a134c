# SPDX-License-Identifier: BSD-3-Clause
"""Writes a program as C++ source and a header for C: direct calls of its kernels, weights and memory as arrays.

    python -m executorch.codegen.c mnist.pte            mnist.h, mnist.cpp

Compile the source with the headers of ExecuTorch and link executorch_core and the kernels that it calls:
portable_kernels, quantized_kernels, or cortex_m_kernels for int8. No interpreter, no flatbuffer, no heap. Sizes are
fixed; delegates are not taken.
"""

from __future__ import annotations

import argparse
import re
import sys
from pathlib import Path

import yaml

from ..model_operators import ModelError
from ..op_table import Row, read_table
from ..schema import SchemaError, SchemaSource
from .libraries import LIBRARIES
from .plan import CannotWrite, Plan, read_plan
from .source import Files, write_files

TABLES = [each.table_path for each in LIBRARIES]


def rows_by_operator(paths: list[Path]) -> dict[str, Row]:
    """The rows of all tables; an operator of an earlier table wins."""
    schemas, rows = SchemaSource(), {}
    for path in paths:
        for row in read_table(path, schemas):
            rows.setdefault(row.schema.qualified_name, row)
    return rows


def parser(prog: str = "python -m executorch.codegen.c") -> argparse.ArgumentParser:
    made = argparse.ArgumentParser(
        prog=prog,
        description=__doc__.replace("python -m executorch.codegen.c", prog),
        formatter_class=argparse.RawDescriptionHelpFormatter,
    )
    add = made.add_argument
    add("model", type=Path, help="a .pte")
    add("--method", default="forward")
    add(
        "-o",
        "--output-dir",
        type=Path,
        default=Path(),
        help="where the files go; the current folder",
    )
    add("--name", help="how files and functions are called; the name of the model's file")
    add(
        "--functions-yaml-path",
        type=Path,
        action="append",
        default=[],
        help="tables asked before those of the package's kernels",
    )
    add(
        "--custom-ops-yaml-path",
        type=Path,
        action="append",
        default=[],
        help="likewise, with `func` rows",
    )
    add(
        "--scratch-bytes",
        type=int,
        default=1024,
        help="memory that kernels may ask for while they run; a macro of the header changes it",
    )
    return made


def name_of(options: argparse.Namespace) -> str:
    """What names in the source begin with."""
    name = re.sub(r"\W", "_", options.name or options.model.stem)
    return f"_{name}" if name[:1].isdigit() else name


def prepared(options: argparse.Namespace) -> tuple[Plan, dict[str, Row], Files]:
    """The plan, the operators that there are kernels for, and the texts. ValueError, with a sentence, for what
    cannot be written."""
    tables = [*options.functions_yaml_path, *options.custom_ops_yaml_path, *TABLES]
    try:
        plan = read_plan(options.model, options.method)
        rows = rows_by_operator(tables)
        name = name_of(options)
        return plan, rows, write_files(plan, rows, name, options.model.name, options.scratch_bytes)
    except (CannotWrite, ModelError, SchemaError, yaml.YAMLError) as error:
        raise ValueError(str(error)) from error


def run(options: argparse.Namespace) -> int:
    """ValueError or OSError, with a sentence, for what cannot be written."""
    name = name_of(options)
    _, _, files = prepared(options)
    options.output_dir.mkdir(parents=True, exist_ok=True)
    (options.output_dir / f"{name}.h").write_text(files.header)
    (options.output_dir / f"{name}.cpp").write_text(files.source)
    print(f"{options.output_dir / name}.cpp, {options.output_dir / name}.h")
    return 0


def main(arguments: list[str] | None = None) -> int:
    try:
        return run(parser().parse_args(arguments))
    except (ValueError, OSError) as error:
        print(f"error: {error}", file=sys.stderr)
        return 1


if __name__ == "__main__":
    sys.exit(main())
