# SPDX-License-Identifier: BSD-3-Clause
"""Writes a program as C++ source and a header for C: direct calls of its kernels, weights and memory as arrays.

With --project it is a folder that compiles without this package: the source, the kernels that it calls, a CMake file,
the start and memory map of a processor, and a test that sets the model's outputs beside those of --expected, or of this
computer's runtime, on --inputs or drawn ones.

    executorch c model.pte --project firmware --target cortex-m33
    cmake -B firmware/build -S firmware && cmake --build firmware/build && ctest --test-dir firmware/build
"""

from __future__ import annotations

import argparse
from pathlib import Path
from typing import Any


def parser(prog: str) -> argparse.ArgumentParser:
    from executorch.codegen.c.__main__ import parser as source_parser
    from executorch.codegen.c.targets import TARGETS, nbytes
    from executorch.devtools.commands.arguments.options import add_inputs

    made = source_parser(prog)
    made.description = __doc__
    group = made.add_argument_group("a project")
    add = group.add_argument
    add("--project", type=Path, metavar="DIR", help="write a project there")
    add("--target", choices=TARGETS, help="its processor; default: host, this computer")
    add("--flash", type=nbytes, metavar="1M", help="your chip's; default: the emulator's")
    add("--ram", type=nbytes, metavar="256K", help="likewise")
    add("--stack", type=nbytes, default="16K", metavar="16K", help="of RAM, for the stack")
    add("--expected", type=Path, metavar="FILE", help=".npz or .npy of outputs")
    add("--atol", type=float, default=1e-4, help="how close they are to be; default: 1e-4")
    add("--rtol", type=float, default=1e-3, help="the same of their size; default: 1e-3")
    add(
        "--kernel-source",
        type=Path,
        action="append",
        default=[],
        metavar="FILE.cpp",
        help="kernels of --custom-ops-yaml-path",
    )
    add_inputs(group)
    return made


def run(options: argparse.Namespace) -> int:
    from executorch.codegen.c.__main__ import run as write_source

    if options.project is not None:
        if options.output_dir != Path():
            raise ValueError("-o: expected no other folder beside --project DIR")
        return write(options)
    if options.target is not None:
        raise ValueError("--target: give --project DIR, where to write for it")
    return write_source(options)


def write(options: argparse.Namespace) -> int:
    from executorch.codegen.c.__main__ import name_of, prepared
    from executorch.codegen.c.project import Settings, write_project
    from executorch.codegen.c.targets import TARGETS
    from executorch.version import __version__

    target = TARGETS[options.target or "host"].with_memory(options.flash, options.ram)
    settings = Settings(
        name_of(options),
        options.model.name,
        target,
        options.scratch_bytes,
        options.stack,
        __version__,
        options.kernel_source,
    )
    plan, rows, files = prepared(options)
    left = write_project(options.project, plan, rows, files, _vectors(options, plan), settings)
    print(f"wrote {options.project} for {target.name} ({target.what})")
    for name in left:
        print(f"  {name} was there and is as it was")
    return 0


def _vectors(options: argparse.Namespace, plan: Any) -> Any:
    import numpy

    from executorch.codegen.c.project import Vectors
    from executorch.devtools.commands.inputs.used import arrays_of, used_inputs
    from executorch.devtools.commands.program_file import plan_of
    from executorch.runtime import Runtime

    program = Runtime.get().load_program(options.model)
    declared = plan_of(options.model, options.method)
    arrays = [each.value for each in used_inputs(declared, options)]
    if options.expected is None:
        outputs = program.load_method(options.method).execute(arrays)
    else:
        held = {name: value for name, value, _ in arrays_of([str(options.expected)])}
        # by name, as `executorch run --output` writes them, or by number
        known = enumerate(declared.output_names)
        names = [name if name in held else str(number) for number, name in known]
        if missing := set(names) - set(held):
            raise ValueError(
                f"{options.expected}: expected outputs {', '.join(names)}, found none of {', '.join(sorted(missing))}"
            )
        outputs = [held[name] for name in names]

    def laid_out(values: list[Any], indices: list[int]) -> list[bytes]:
        """In the order of dims that the program's tensor has."""
        tensors = (plan.tensors[index] for index in indices)
        return [
            numpy.asarray(value).transpose(tensor.dim_order).tobytes()
            for value, tensor in zip(values, tensors, strict=True)
        ]

    return Vectors(
        laid_out(arrays, plan.inputs),
        laid_out(outputs, plan.outputs),
        options.atol,
        options.rtol,
    )
