# SPDX-License-Identifier: BSD-3-Clause
"""Joins several selected_prim_ops.h into one that switches selection on."""

from __future__ import annotations

import argparse
import sys
from pathlib import Path

from .gen_selected_prim_ops import FILE, HEAD, header

_DEFINE = "#define INCLUDE_"


def read_header_file(file_path: Path) -> set[str]:
    """The lines of a header that define a macro for an operator."""
    lines = (line.strip() for line in Path(file_path).read_text().splitlines())
    return {line for line in lines if line.startswith(_DEFINE)}


def combine_prim_ops_headers(header_file_paths: list[str], output_path: str) -> None:
    """Writes `output_path` with the macros of all; a folder stands for its selected_prim_ops.h."""
    paths = [path / FILE if path.is_dir() else path for path in map(Path, header_file_paths)]
    lines = set().union(*(read_header_file(path) for path in paths))
    macros = {line.removeprefix("#define ") for line in lines}
    switch = "#define EXECUTORCH_ENABLE_PRIM_OPS_SELECTIVE_BUILD\n"
    Path(output_path).parent.mkdir(parents=True, exist_ok=True)
    Path(output_path).write_text(f"{HEAD}\n{switch}\n{header(macros)}")


def main(argv: list[str] | None = None) -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--header_files", "--header-files", required=True,
                        help="paths divided by commas")  # fmt: skip
    parser.add_argument("--output_dir", "--output-dir", required=True)
    options = parser.parse_args(argv)
    output = str(Path(options.output_dir) / FILE)
    combine_prim_ops_headers([path for path in options.header_files.split(",") if path], output)


if __name__ == "__main__":
    try:
        main()
    except OSError as error:
        sys.exit(f"error: {error}")
