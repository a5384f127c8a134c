# SPDX-License-Identifier: BSD-3-Clause
"""Runs a program on inputs and says what comes out.

Inputs are values of files, in the order of the method's inputs or by their names; those that no file has are drawn, at
the sizes of --shape or the largest of the export.

    executorch run model.pte --inputs image.npy --top 5
    executorch run model.pte --shape image=1x3x64x64
    executorch run model.pte --device ssh:board
    executorch run model.gguf

A language model's checkpoint is exported on first use and kept, as with chat.
"""

from __future__ import annotations

import argparse
from pathlib import Path


def parser(prog: str) -> argparse.ArgumentParser:
    from executorch.cli.main import command_parser
    from executorch.devtools.commands.arguments.options import add_data, add_device, add_inputs

    made = command_parser(prog, __doc__)
    made.add_argument(
        "program",
        type=Path,
        metavar="PROGRAM",
        help="a .pte or .gguf file, or a folder of Hugging Face",
    )
    add_data(made)
    made.add_argument("--method", default="", help="forward, or the only one, unless given")
    add_inputs(made)
    add_device(made)
    made.add_argument("--output", type=Path, metavar="FILE", help="write the outputs there (.npz)")
    made.add_argument("--runs", type=int, default=1, help="times are those of the last")
    made.add_argument(
        "--top", type=int, default=0, help="print the largest values of each output, and where"
    )
    made.add_argument("--json", action="store_true", help="JSON instead of text")
    return made


def run(options: argparse.Namespace) -> int:
    from executorch.cli.running import run_program

    if options.program.suffix == ".gguf" or options.program.is_dir():
        from executorch.extension.llm.export.program_cache import program_of

        options.program = program_of(options.program).path
    return run_program(options)
