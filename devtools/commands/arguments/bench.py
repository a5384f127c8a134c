# SPDX-License-Identifier: BSD-3-Clause
"""How long a program takes: warm and cold, by number of threads, with its memory, and by operator; two files, or two
builds of this package, are compared in turns.

Each file is loaded by processes of its own, on values of --inputs, else on drawn ones. Cold: a fresh process loads the
program and runs it once; the system may still have the file in memory. Warm: later runs. Of two files, each runs a
little while the other waits, so that what else the machine does hits both; the interval holds the ratio of their times
with 95 %.

    python -m executorch.devtools bench before.pte after.pte --threads 1 2 --html bench.html
    python -m executorch.devtools bench model.pte --shape image=1x3x64x64
    python -m executorch.devtools bench before.pte after.pte --device adb --etrecord before.etrecord
    python -m executorch.devtools bench model.pte --python other-environment/bin/python
"""

from __future__ import annotations

import argparse
from pathlib import Path

from executorch.devtools.commands.arguments.options import add_data, add_device, add_inputs


def add_arguments(parser: argparse.ArgumentParser) -> None:
    parser.add_argument("file", type=Path, help="a .pte file")
    parser.add_argument(
        "other", type=Path, nargs="?", help="another one, to compare with the first"
    )
    parser.add_argument(
        "--python",
        help="the interpreter of another environment, whose build of the package runs OTHER, or FILE, in turns with "
        "this one",
    )
    parser.add_argument("--etrecord", type=Path, help="FILE's record, for times by module and line")
    add_data(parser)
    parser.add_argument("--method", default="", help="forward, or the first by name, unless given")
    add_inputs(parser)
    add_device(parser)
    parser.add_argument(
        "--threads", type=int, nargs="*", default=[0], help="0: as many as the runtime takes"
    )
    parser.add_argument("--rounds", type=int, default=20, help="turns of each file")
    parser.add_argument("--runs", type=int, default=5, help="runs in a turn")
    parser.add_argument(
        "--cold", type=int, default=3, help="fresh processes to measure cold starts with"
    )
