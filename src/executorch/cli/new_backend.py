# SPDX-License-Identifier: BSD-3-Clause
"""Begins a backend as a project of its own: a Python package with partitioner and compiler, the C++ runtime half that
CMake builds against the installed package, and tests, the conformance checks among them. It is whole from the start:
it takes additions and multiplications, and its README says what to change. --kind compiler: around a vendor's compiler
and a vendor's library, of which a fake is there.

    executorch new-backend my_device --dir projects
    executorch new-backend my_npu --kind compiler
"""

from __future__ import annotations

import argparse
from pathlib import Path


def parser(prog: str) -> argparse.ArgumentParser:
    from executorch.cli.main import command_parser

    made = command_parser(prog, __doc__)
    made.add_argument("name", metavar="NAME", help="lower case words joined by _")
    made.add_argument(
        "--kind",
        choices=("delegate", "compiler"),
        default="delegate",
        help="with a format and an interpreter of its own, which is the default; or around an SDK",
    )
    made.add_argument(
        "--dir", type=Path, default=Path(), metavar="DIR", help="where NAME is made; default: here"
    )
    return made


def run(options: argparse.Namespace) -> int:
    from executorch.cli import projects

    projects.check_name(options.name)
    target = options.dir / options.name
    written = projects.copy(projects.backend_files(options.kind), options.name, target)
    print(projects.next_steps(target, written))
    return 0
