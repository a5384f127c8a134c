# SPDX-License-Identifier: BSD-3-Clause
"""Prints which operators the XNNPACK backend takes, as CSV from its table: `python -m tools.xnnpack_operators`
(--write FILE). The conditions are the reasons for which its rows do not delegate a call."""

from __future__ import annotations

import argparse
import csv
import io
import sys
from pathlib import Path

from executorch.backends.xnnpack.aot.ops import TABLE, Quantized, Row

COLUMNS = ("Operator", "Compute DType", "Quantization", "Not delegated because")
QUANTIZATION = {
    Quantized.NO: "",
    Quantized.GEMM: "static and dynamic int8 activations; int8 weights, constant",
    Quantized.ARITHMETIC: "static int8, results of a range of their own",
    Quantized.SHARED_PARAMETERS: "static int8, shared quantization parameters",
    Quantized.LOOKUP_TABLE: "static int8 where inputs and results are, by a look-up table",
}


def line(operator: str, row: Row) -> tuple[str, str, str, str]:
    return (
        operator,
        "fp32",
        QUANTIZATION[row.quantized],
        "; ".join(each.reason for each in row.conditions),
    )


def table() -> str:
    text = io.StringIO()
    writer = csv.writer(text, lineterminator="\n")
    writer.writerow(COLUMNS)
    writer.writerows(line(operator, row) for operator, row in TABLE.items())
    return text.getvalue()


def main(argv: list[str] | None = None) -> int:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--write", type=Path, help="a file instead of standard output")
    options = parser.parse_args(argv)
    if options.write is None:
        sys.stdout.write(table())
        return 0
    options.write.parent.mkdir(parents=True, exist_ok=True)
    options.write.write_text(table())
    return 0


if __name__ == "__main__":
    sys.exit(main())
