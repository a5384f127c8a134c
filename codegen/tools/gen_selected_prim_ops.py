# SPDX-License-Identifier: BSD-3-Clause
"""Writes selected_prim_ops.h: a macro for each of the runtime's own operators that a program needs."""

from __future__ import annotations

import argparse
import re
import sys
from pathlib import Path
from typing import Any

import yaml

FILE = "selected_prim_ops.h"
HEAD = """\
// SPDX-License-Identifier: BSD-3-Clause
// Generated from a selection of operators; do not edit.
#pragma once
"""
LIST = "ET_SELECTED_PRIM_OPS"


def normalize_op_name(op_name: str) -> str:
    """`executorch_prim::add.Scalar` -> `INCLUDE_EXECUTORCH_PRIM_ADD_SCALAR`."""
    return "INCLUDE_" + re.sub(r"\W+", "_", op_name).upper()


def header(macros: set[str]) -> str:
    """The lines that define the macros, and their names as a list that C++ can read."""
    defined = "".join(f"#define {macro}\n" for macro in sorted(macros))
    names = "".join(f' \\\n  "{macro}",' for macro in sorted(macros))
    return f"{defined}\n#define {LIST}{names}\n"


def write_selected_prim_ops(prim_op_names: list[str], output_dir: str) -> None:
    """Writes output_dir/selected_prim_ops.h, only when its text changes."""
    text = f"{HEAD}\n{header({normalize_op_name(name) for name in prim_op_names})}"
    path = Path(output_dir) / FILE
    path.parent.mkdir(parents=True, exist_ok=True)
    if not path.exists() or path.read_text() != text:
        path.write_text(text)


def main(argv: list[Any] | None = None) -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    source = parser.add_mutually_exclusive_group(required=True)
    source.add_argument("--prim-op-names", "--prim_op_names", help="names divided by commas")
    source.add_argument("--yaml-file-path", type=Path, help="from gen_oplist: all that it names")
    parser.add_argument("--output-dir", "--output_dir", required=True)
    options = parser.parse_args(argv)
    if options.yaml_file_path:
        names = list(yaml.safe_load(options.yaml_file_path.read_text())["operators"])
    else:
        names = [name.strip() for name in options.prim_op_names.split(",") if name.strip()]
    write_selected_prim_ops(names, options.output_dir)


if __name__ == "__main__":
    try:
        main()
    except OSError as error:
        sys.exit(f"error: {error}")
