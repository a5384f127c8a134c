# SPDX-License-Identifier: BSD-3-Clause
"""Writes an op table with the operators a program file calls: the rows to start a kernel library for it from."""

from __future__ import annotations

import argparse
import sys
from pathlib import Path

import yaml

from ..model_operators import model_operators


def get_operators(model_file: str) -> list[str]:
    """Names such as `aten::add.out`, in the order of their first call."""
    return list(model_operators(Path(model_file)))


def dump_yaml(model_file: str, output_file: str) -> None:
    """One row per operator; kernels are named as the convention has it, `add.out` -> `add_out`."""
    rows = []
    for name in get_operators(model_file):
        namespace, _, op = name.partition("::")
        kernel = op.replace(".", "_").lower()
        kernels = [{"arg_meta": None, "kernel_name": f"torch::executor::{kernel}"}]
        rows.append({"op": op if namespace == "aten" else name, "kernels": kernels})
    Path(output_file).write_text(yaml.safe_dump(rows, sort_keys=False))


def main(args: list[str] | None = None) -> int:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--output_path", required=True)
    parser.add_argument("--model_file_path", required=True, help="a .pte")
    options = parser.parse_args(args)
    try:
        dump_yaml(options.model_file_path, options.output_path)
    except (OSError, ValueError) as error:
        print(f"error: {error}", file=sys.stderr)
        return 1
    return 0


if __name__ == "__main__":
    sys.exit(main())
