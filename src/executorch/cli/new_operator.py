# SPDX-License-Identifier: BSD-3-Clause
"""Begins an operator as a project of its own: a Python package that defines it for PyTorch (with out variant and fake
kernel), its kernel in C++ that CMake builds against the installed package, and tests. It is whole from the start, with
a small formula in the place of yours; its README says what to change.

    executorch new-operator soft_clip --namespace my_ops
"""

from __future__ import annotations

import argparse
import re
from pathlib import Path

NAMESPACE = "my_ops"


def parser(prog: str) -> argparse.ArgumentParser:
    from executorch.cli.main import command_parser

    made = command_parser(prog, __doc__)
    made.add_argument("name", metavar="NAME", help="of the operator: lower case words joined by _")
    made.add_argument(
        "--namespace", default=NAMESPACE, help=f"torch.ops.NAMESPACE.NAME; default: {NAMESPACE}"
    )
    made.add_argument(
        "--dir", type=Path, default=Path(), metavar="DIR", help="where NAME is made; default: here"
    )
    return made


def run(options: argparse.Namespace) -> int:
    from executorch.cli import projects

    projects.check_name(options.name)
    if not re.fullmatch(r"[a-z][a-z0-9_]*", options.namespace) or options.namespace == "aten":
        raise ValueError(
            f"--namespace: expected lower case words joined by _, and not PyTorch's own aten, found "
            f"{options.namespace!r}"
        )
    files = {
        path: text.replace(NAMESPACE, options.namespace)
        for path, text in projects.template("operator").items()
    }
    target = options.dir / options.name
    print(projects.next_steps(target, projects.copy(files, options.name, target)))
    return 0
