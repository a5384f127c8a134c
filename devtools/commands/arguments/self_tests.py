# SPDX-License-Identifier: BSD-3-Clause
"""Puts test cases into a program file: inputs, and the outputs that PyTorch gives for them.

`executor_runner --self_test --model_path=...` runs them on the device and says which pass; nothing else reads them. The
record (generate_etrecord=True) has the model; its inputs make the first case, each --inputs another. Without a record
the command says what the file carries.

    python -m executorch.devtools self_test model.pte --etrecord model.etrecord --output tested.pte

The exit status is 1 when a case fails on the runtime of this package.
"""

from __future__ import annotations

import argparse
from pathlib import Path

from executorch.devtools.commands.arguments.options import add_data


def add_arguments(parser: argparse.ArgumentParser) -> None:
    parser.add_argument("file", type=Path, help="a .pte file")
    parser.add_argument("--etrecord", type=Path, help="the record of its model")
    parser.add_argument(
        "--inputs", type=Path, action="append", default=[], help="torch.save of a tuple; repeatable"
    )
    add_data(parser)
    parser.add_argument("--method", default="", help="forward, or the first by name, unless given")
    parser.add_argument("--output", type=Path, help="the file with cases; FILE unless given")
    parser.add_argument(
        "--rtol", type=float, help="of what is found: 1e-3, 2e-2 for half precision, unless given"
    )
    parser.add_argument(
        "--atol", type=float, help="1e-5, 1e-3 for half precision, unless given; more for int8"
    )
