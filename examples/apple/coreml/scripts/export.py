# SPDX-License-Identifier: BSD-3-Clause
"""`python -m executorch.examples.apple.coreml.scripts.export --model_name=mv3`: an example model for Core ML, as
mv3_coreml_all.pte. Without --use_partitioner the whole model must be Core ML's, or nothing is written."""

from __future__ import annotations

import argparse
import platform
import sys

import coremltools as ct
import torch

from executorch.backends.apple.coreml.compiler import CoreMLBackend
from executorch.backends.apple.coreml.partition import CoreMLPartitioner
from executorch.examples.models.command_line import add_model_name, chosen_example
from executorch.examples.models.example import Method
from executorch.exir import (
    EdgeProgramManager,
    ExecutorchProgramManager,
    to_edge_transform_and_lower,
)
from executorch.extension.export_util import save_pte_program
from executorch.extension.export_util.utils import save_processed_bytes

UNITS = [unit.name.lower() for unit in ct.ComputeUnit]
PRECISIONS = [precision.value for precision in ct.precision]
# Switches, and what they do; all are off unless given.
SWITCHES = (
    ("compile", "compile the model with Core ML, which needs macOS"),
    ("use_partitioner", "leave what Core ML does not compute on the CPU"),
    ("generate_etrecord", "also MODEL_coreml_etrecord.bin, for the developer tools"),
    ("save_processed_bytes", "also MODEL_coreml_UNIT.bin, the delegate's payload alone"),
    ("dynamic_shapes", "the sizes that the example says may change"),
    ("run_with_pybindings", "run the program here, which needs macOS"),
)


def parser() -> argparse.ArgumentParser:
    made = argparse.ArgumentParser(description=__doc__)
    add_model_name(made)
    made.add_argument("-c", "--compute_unit", choices=UNITS, default="all", help="where it runs")
    made.add_argument(
        "-precision",
        "--compute_precision",
        choices=PRECISIONS,
        default="float16",
        help="of numbers",
    )
    for name, words in SWITCHES:
        made.add_argument(
            f"--{name}", action=argparse.BooleanOptionalAction, default=False, help=words
        )
    return made


def partitioner(args: argparse.Namespace) -> CoreMLPartitioner:
    kinds = CoreMLBackend.MODEL_TYPE
    specs = CoreMLBackend.generate_compile_specs(
        compute_unit=ct.ComputeUnit[args.compute_unit.upper()],
        compute_precision=ct.precision(args.compute_precision),
        model_type=kinds.COMPILED_MODEL if args.compile else kinds.MODEL,
    )
    return CoreMLPartitioner(compile_specs=specs, lower_full_graph=not args.use_partitioner)


def lower(method: Method, args: argparse.Namespace) -> EdgeProgramManager:
    shapes = method.dynamic_shapes if args.dynamic_shapes else None
    with torch.no_grad():
        program = torch.export.export(
            method.module, method.inputs, dynamic_shapes=shapes, strict=True
        )
    return to_edge_transform_and_lower(
        program, partitioner=[partitioner(args)], generate_etrecord=args.generate_etrecord
    )


def run(program: ExecutorchProgramManager, method: Method) -> None:
    from executorch.runtime import Runtime

    loaded = Runtime.get().load_program(program.buffer).load_method("forward")
    print(loaded.execute(torch.utils._pytree.tree_leaves(method.inputs)))


def main(argv: list[str] | None = None) -> int:
    arguments = parser()
    args = arguments.parse_args(argv)
    if args.run_with_pybindings and platform.system() != "Darwin":
        raise RuntimeError("Cannot run with pybindings on this platform.")
    method = chosen_example(arguments, args.model_name).forward
    edge = lower(method, args)
    program = edge.to_executorch()
    base = args.model_name + ("_compiled" if args.compile else "")
    name = f"{base}_coreml_{args.compute_unit}"
    print(f"wrote {save_pte_program(program, name)}")
    if args.generate_etrecord:
        program.get_etrecord().save(f"{base}_coreml_etrecord.bin")
    if args.save_processed_bytes:
        save_processed_bytes(edge, name)
    if args.run_with_pybindings:
        run(program, method)
    return 0


if __name__ == "__main__":
    sys.exit(main())
