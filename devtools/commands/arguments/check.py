# SPDX-License-Identifier: BSD-3-Clause
"""Will a program load there: operators and their dtypes, backends, memory, versions, external data.

Against `here`, the runtime of this package, the program is also loaded. Against a binary, its strings are read: it
need not run on this machine. With --device the runner there says what it has, and loads the program. The exit status
is 1 when the program will not load.

    python -m executorch.devtools check model.pte --against cmake-out/executor_runner --memory 4000000
    python -m executorch.devtools check model.pte --device qemu:aarch64 --runner cmake-out-arm64/executor_runner
"""

from __future__ import annotations

import argparse
from pathlib import Path

from executorch.devtools.commands.arguments.options import HERE, add_device


def add_arguments(parser: argparse.ArgumentParser) -> None:
    parser.add_argument("file", type=Path, help="a .pte file")
    parser.add_argument(
        "--against",
        default=HERE,
        metavar="TARGET",
        help="here (the default), a binary, selected_operators.yaml of a build, or kernel libraries and backends "
        "joined by +, such as portable+quantized+XnnpackBackend",
    )
    add_device(parser)
    parser.add_argument(
        "--memory", type=int, metavar="BYTES", help="what a method may plan at most"
    )
    parser.add_argument(
        "--data", type=Path, nargs="*", default=[], metavar="FILE", help="its .ptd files"
    )
