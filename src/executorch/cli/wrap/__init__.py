# SPDX-License-Identifier: BSD-3-Clause
"""Writes a class for a program: a method for each of its methods, with names, element types and sizes of the file.

The class stands on the runtime's interface of its language and adds no way to run a program of its own. What a class
cannot hold (an element type that the language lacks) is refused; --method takes the other methods.

    executorch wrap model.pte --lang python
    executorch wrap model.pte --lang kotlin --package com.example --name Classifier -o Classifier.kt
"""

from __future__ import annotations

import argparse
from pathlib import Path


def parser(prog: str) -> argparse.ArgumentParser:
    from executorch.cli.main import command_parser
    from executorch.cli.wrap.languages import NAMES

    made = command_parser(prog, __doc__)
    add = made.add_argument
    add("program", type=Path, metavar="PROGRAM", help="a .pte file")
    add("--lang", required=True, choices=NAMES, help="the language")
    add("-o", "--output", type=Path, metavar="FILE", help="default: the class's name, here")
    add(
        "--name", default="", metavar="CLASS", help="of the class; default: made of the file's name"
    )
    add("--method", action="append", default=[], metavar="NAME", help="this one; default: all")
    add("--package", default="", metavar="NAME", help="of the class, in Kotlin")
    add("--main", type=Path, metavar="FILE", help="also a program that calls each method once")
    return made


def run(options: argparse.Namespace) -> int:
    from executorch.cli.wrap.writing import write

    return write(options)
