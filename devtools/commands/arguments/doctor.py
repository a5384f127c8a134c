# SPDX-License-Identifier: BSD-3-Clause
"""What stops a program, slows it or takes its memory: everything at once, with the line of Python and the next step.

Takes a program file, with the record of its model for lines and reasons; an exported program (torch.export.save), which
is lowered for --backend as it would be; or a model of a file or module of Python, which is exported first: a tuple of
module and inputs, or a function that gives it. The program also runs here, which says what each cause costs; with a
record this finds operators that are slower than the machine, and such as give infinities or NaN.

    python -m executorch.devtools doctor model.pte --etrecord model.etrecord --html model.html
    python -m executorch.devtools doctor model.pte --etrecord model.etrecord --device ssh:board
    python -m executorch.devtools doctor model.pt2 --shape image=1x3x64x64
    python -m executorch.devtools doctor model.py:make_model --all-backends

The exit status is 1 when something stops the program.
"""

from __future__ import annotations

import argparse
from pathlib import Path

from executorch.devtools.commands.arguments.options import (
    HERE,
    XNNPACK,
    add_data,
    add_device,
    add_inputs,
)


def add_arguments(parser: argparse.ArgumentParser) -> None:
    parser.add_argument(
        "model", help="a program (.pte), an exported program (.pt2), or a model (file.py:name)"
    )
    parser.add_argument("--etrecord", type=Path, help="the record of a .pte's model")
    parser.add_argument(
        "--backend",
        default=XNNPACK,
        help="what a .pt2 is lowered for; none for kernels alone",
    )
    parser.add_argument(
        "--all-backends",
        action="store_true",
        help="of a model that is not lowered: run it on every backend that is here, and say which is the fastest",
    )
    parser.add_argument(
        "--against", default=HERE, metavar="TARGET", help="where it will run, as of `check`"
    )
    parser.add_argument(
        "--method", default="", help="whose time is of interest: forward, or the first by name"
    )
    add_data(parser)
    add_device(parser)
    add_inputs(parser, "those of the record, else drawn,")
    parser.add_argument("--no-run", action="store_true", help="do not run it, measure nothing")
