# SPDX-License-Identifier: BSD-3-Clause
"""The first operator of a program file whose output leaves the model's, by line of Python, inside of delegates, too.

The file runs on the runtime of this package. Each operator is computed once more by PyTorch from what the file gave
its operands, so that an operator is found by its own error, not by one that it was handed. The model is its record
(generate_etrecord=True), or an exported program (torch.export.save), which is lowered again as the file was.

    python -m executorch.devtools bisect model.etrecord model.pte

In half precision the model may overflow, too: operators that first give infinities or NaN are named besides, with what
they give in float64.

The exit status is 1 when an operator leaves the reference, or overflows.
"""

from __future__ import annotations

import argparse
from pathlib import Path

from executorch.devtools.commands.arguments.options import add_data


def add_arguments(parser: argparse.ArgumentParser) -> None:
    parser.add_argument(
        "model", type=Path, help="a record (.etrecord) or an exported program (.pt2)"
    )
    parser.add_argument("file", type=Path, help="a .pte file of that model")
    parser.add_argument("--method", default="", help="forward, or the first by name, unless given")
    parser.add_argument(
        "--tolerance",
        type=float,
        help="of an operator's own error, ||found - expected|| / ||expected||: 1e-3 for float32, 2e-2 for half "
        "precision and for what is quantized while running, unless given; integers may be 0.25 off on average",
    )
    parser.add_argument(
        "--inputs", type=Path, help="torch.save of a tuple; the record's inputs unless given"
    )
    add_data(parser)
