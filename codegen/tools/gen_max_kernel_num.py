# SPDX-License-Identifier: BSD-3-Clause
"""Writes the header that sizes the kernel registry for a selection of operators: its kernels and the prim ops."""

from __future__ import annotations

import argparse
import re
import sys
from pathlib import Path
from typing import Any

import yaml

HEADER_TEMPLATE = """\
// SPDX-License-Identifier: BSD-3-Clause
// Generated from a selection of operators; do not edit.
#pragma once

#define EXECUTORCH_SELECTED_MAX_KERNEL_NUM {count}
"""
OPT_OUT_HEADER = """\
// SPDX-License-Identifier: BSD-3-Clause
// Generated from a selection of all operators, for which the registry has its usual size; do not edit.
#pragma once
"""
# The table of prim ops: rows of ours, and of sources that are written as upstream's.
PRIM_OPS_ARRAY_RE = re.compile(
    r"(?:static\s+Kernel\s+prim_ops|constexpr\s+Row\s+kPrimOps)\s*\[\s*\]\s*=\s*\{(.*?)^\};",
    re.MULTILINE | re.DOTALL,
)
PRIM_OPS_KERNEL_RE = re.compile(r'\bKernel\s*\(|\{\s*"')


def gen_max_kernel_num(
    oplist_yamls: list[Path], prim_ops_source: Path, output_path: Path
) -> int | None:
    """The number of kernel keys that the selections name, one for an operator without keys, and of prim ops; written to
    `output_path` as the size of the registry. None where a selection has all operators or all overloads of one: the
    header leaves the size open then."""
    count: int | None = _num_prim_ops(prim_ops_source)
    for path in oplist_yamls:
        num_kernels = _num_kernels(yaml.safe_load(path.read_text()) or {})
        if num_kernels is None:
            count = None
            break
        count += num_kernels
    output_path.parent.mkdir(parents=True, exist_ok=True)
    text = OPT_OUT_HEADER if count is None else HEADER_TEMPLATE.format(count=count)
    if not output_path.exists() or output_path.read_text() != text:
        output_path.write_text(text)
    return count


def _num_prim_ops(source: Path) -> int:
    table = PRIM_OPS_ARRAY_RE.search(source.read_text())
    if table is None:
        raise RuntimeError(
            f"{source}: expected the table of prim ops, `static Kernel prim_ops[] = {{...}};` or "
            "`constexpr Row kPrimOps[] = {...};`, found neither"
        )
    return len(PRIM_OPS_KERNEL_RE.findall(table[1]))


def _num_kernels(selection: dict[str, Any]) -> int | None:
    operators, keys = (selection.get(t) or {} for t in ("operators", "et_kernel_metadata"))
    if selection.get("include_all_operators") or any(
        (operator or {}).get("include_all_overloads") for operator in operators.values()
    ):
        return None
    return sum(len(keys.get(name) or [None]) for name in {**operators, **keys})


def main(argv: list[str] | None = None) -> int:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--oplist-yaml", type=Path, action="append", required=True)
    parser.add_argument("--prim-ops-source", type=Path, required=True)
    parser.add_argument("--output-path", type=Path, required=True)
    options = parser.parse_args(argv)
    try:
        gen_max_kernel_num(options.oplist_yaml, options.prim_ops_source, options.output_path)
    except (OSError, RuntimeError, yaml.YAMLError) as error:
        print(f"error: {error}", file=sys.stderr)
        return 1
    return 0


if __name__ == "__main__":
    sys.exit(main())
