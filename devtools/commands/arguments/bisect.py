# SPDX-License-Identifier: BSD-3-Clause
"""A model beside its program: why the numbers differ, and the first operator that does, by line of Python.

Causes come in order: observers that were not calibrated, inputs unlike those of the calibration, infinities and numbers
that saturate or vanish in half precision, quantized layers whose values are cut, operators that differ, inside of
delegates, too.

The file runs on the runtime of this package, or on a device. Each operator is computed once more by PyTorch from what
the file gave its operands, so that an operator is found by its own error, not by one that it was handed. The model is
its record (generate_etrecord=True), or an exported program (torch.export.save) or a model of Python (file.py:name),
which is lowered again as the file was.

    python -m executorch.devtools bisect model.etrecord model.pte
    python -m executorch.devtools bisect model.etrecord model.pte --device adb

In half precision the model overflows as its program does: there each operator is computed in float64, too.

The exit status is 1 when there is a cause.
"""

from __future__ import annotations

import argparse
from pathlib import Path

from executorch.devtools.commands.arguments.options import add_data, add_device


def add_arguments(parser: argparse.ArgumentParser) -> None:
    parser.add_argument(
        "model",
        type=Path,
        help="a record (.etrecord), an exported program (.pt2) or a model (file.py:name)",
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
    add_device(parser)
