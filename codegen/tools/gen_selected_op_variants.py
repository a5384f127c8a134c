# SPDX-License-Identifier: BSD-3-Clause
"""Writes selected_op_variants.h: which dtypes the kernels of a selection must handle, as constant expressions.

Kernels of one family share their loops, so what is left out of a build is decided for all operators together; the
header also answers for a single operator.
"""

from __future__ import annotations

import argparse
import sys
from pathlib import Path

import yaml

from ..op_table import SCALAR_TYPES

_NAMES = {number: name for name, number in SCALAR_TYPES.items()}
# Elements of these types are computed in a wider one.
_COMPUTED_IN = {"Half": "Float", "BFloat16": "Float"}
_TEXT = """\
// SPDX-License-Identifier: BSD-3-Clause
// Generated from a selection of operators; do not edit.
#pragma once

#include <string_view>

#include <executorch/runtime/core/exec_aten/exec_aten.h>

/// True when a selected operator of this name has an argument of this dtype.
constexpr bool should_include_kernel_dtype(std::string_view op,
                                           ::executorch::aten::ScalarType dtype) {{
  using ::executorch::aten::ScalarType;
{operators}  (void)op;
  (void)dtype;
  return {fallback};
}}

/// True when any selected operator needs this dtype, to read, to write or to compute in.
constexpr bool should_include_dtype(::executorch::aten::ScalarType dtype) {{
  using ::executorch::aten::ScalarType;
  return {any_operator};
}}
"""


def dtypes_of(keys: list[str]) -> set[str] | None:
    """The dtypes that kernel keys name; None when a key means all."""
    found: set[str] = set()
    for key in keys:
        version, _, tensors = key.partition("/")
        if version != "v1":
            return None
        for tensor in filter(None, tensors.split("|")):
            number = int(tensor.partition(";")[0])
            if number not in _NAMES:
                return None
            found.add(_NAMES[number])
    return found


def _condition(dtypes: set[str]) -> str:
    ordered = sorted(dtypes, key=SCALAR_TYPES.__getitem__)
    return " || ".join(f"dtype == ScalarType::{name}" for name in ordered) or "false"


def header(selection: dict) -> str:
    """The text of the header for the content of a selected-operators file."""
    include_all = bool(selection.get("include_all_operators"))
    operators, needed, takes_all = "", set(), include_all
    for name, keys in (selection.get("et_kernel_metadata") or {}).items():
        dtypes = dtypes_of(keys)
        takes_all = takes_all or dtypes is None
        condition = "true" if dtypes is None else _condition(dtypes)
        operators += f'  if (op == "{name}") {{\n    return {condition};\n  }}\n'
        needed |= dtypes or set()
    needed |= {_COMPUTED_IN[name] for name in needed & _COMPUTED_IN.keys()}
    return _TEXT.format(
        operators="" if include_all else operators,
        fallback=str(include_all).lower(),
        any_operator="dtype == dtype" if takes_all else _condition(needed),
    )


def write_selected_op_variants(yaml_file_path: str, output_dir: str) -> None:
    """Writes output_dir/selected_op_variants.h, only when its text changes."""
    text = header(yaml.safe_load(Path(yaml_file_path).read_text()) or {})
    path = Path(output_dir) / "selected_op_variants.h"
    path.parent.mkdir(parents=True, exist_ok=True)
    if not path.exists() or path.read_text() != text:
        path.write_text(text)


def main(argv: list[str] | None = None) -> int:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--yaml-file-path", required=True, help="from gen_oplist")
    parser.add_argument("--output-dir", required=True)
    options = parser.parse_args(argv)
    try:
        write_selected_op_variants(options.yaml_file_path, options.output_dir)
    except (OSError, yaml.YAMLError) as error:
        print(f"error: {error}", file=sys.stderr)
        return 1
    return 0


if __name__ == "__main__":
    sys.exit(main())
