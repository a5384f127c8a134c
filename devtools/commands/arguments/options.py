# SPDX-License-Identifier: BSD-3-Clause
"""Options that several commands take, `executorch run` included."""

from __future__ import annotations

import argparse
from pathlib import Path

HERE = "here"  # of --against: the runtime of this package
XNNPACK = "XnnpackBackend"


def add_data(parser: argparse.ArgumentParser) -> None:
    parser.add_argument(
        "--data", type=Path, metavar="PTD", help="the data file of a program that has one (.ptd)"
    )
