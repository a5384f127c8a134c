# SPDX-License-Identifier: BSD-3-Clause
"""Exports, lowers and runs architectures of `transformers`; writes JSON lines and, where asked, the page.

usage: python -m executorch.tools.architectures [name ...] [--peer PYTHON] [--transformers PYTHON] [--page FILE]

A row's result is written when it is known: after an interruption, the same command with --resume does the rest.

`transformers` and upstream's wheel are looked for in the environment of --peer (EXECUTORCH_PEER_PYTHON, else
build/peer).
"""

from __future__ import annotations

import argparse
import sys
from pathlib import Path

from executorch.tools.architectures import page
from executorch.tools.architectures.run import add_arguments, run
from executorch.tools.architectures.table import ARCHITECTURES


def main(argv: list[str] | None = None) -> int:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    add_arguments(parser, Path("build/architectures.jsonl"))
    parser.add_argument("--list", action="store_true", help="print the rows and stop")
    options = parser.parse_args(argv)
    if options.list:
        print("\n".join(f"{row.name:24s}{row.kind}" for row in ARCHITECTURES))
        return 0
    run(options, "lower", page.summary, page.page)
    return 0


if __name__ == "__main__":
    sys.exit(main())
