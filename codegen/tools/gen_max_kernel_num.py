# SPDX-License-Identifier: BSD-3-Clause
"""Writes the header that sizes the kernel registry for a selection of operators: its kernels and the prim ops."""

from __future__ import annotations

import argparse
import re
import sys
from pathlib import Path

import yaml

_PRIM_OP = re.compile(r'"executorch_prim::[\w.]+"')
HEADER_TEMPLATE = """\
// SPDX-License-Identifier: BSD-3-Clause
// Generated from a selection of operators; do not edit.
#pragma once

#define EXECUTORCH_SELECTED_MAX_KERNEL_NUM {count}
"""


def gen_max_kernel_num(
    oplist_yamls: list[Path], prim_ops_source: Path, output_path: Path
) -> int | None:
    """The number of kernels, also written to `output_path`; None (and no file) when everything is selected."""
    count = len(set(_PRIM_OP.findall(prim_ops_source.read_text())))
    for path in oplist_yamls:
        content = yaml.safe_load(path.read_text()) or {}
        if content.get("include_all_operators"):
            return None
        names = content.get("operators") or {}
        count += sum(not name.startswith("executorch_prim::") for name in names)
    output_path.parent.mkdir(parents=True, exist_ok=True)
    text = HEADER_TEMPLATE.format(count=count)
    if not output_path.exists() or output_path.read_text() != text:
        output_path.write_text(text)
    return count


def main(argv: list[str] | None = None) -> int:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--oplist-yaml", type=Path, action="append", required=True)
    parser.add_argument("--prim-ops-source", type=Path, required=True)
    parser.add_argument("--output-path", type=Path, required=True)
    options = parser.parse_args(argv)
    try:
        gen_max_kernel_num(options.oplist_yaml, options.prim_ops_source, options.output_path)
    except (OSError, yaml.YAMLError) as error:
        print(f"error: {error}", file=sys.stderr)
        return 1
    return 0


if __name__ == "__main__":
    sys.exit(main())
