# SPDX-License-Identifier: BSD-3-Clause
"""`python -m examples.xnnpack.aot_compiler --model_name="mv2" --delegate`: a model as mv2_xnnpack_fp32.pte."""

from __future__ import annotations

import argparse
import sys

import torch

from executorch.backends.xnnpack import XnnpackPartitioner
from executorch.examples.models.command_line import add_model_name, chosen_example
from executorch.examples.models.example import Method
from executorch.exir import ExecutorchProgramManager, to_edge_transform_and_lower
from executorch.extension.export_util import save_pte_program
from executorch.runtime import Runtime

LARGEST_ERROR = 1e-3  # of the largest output


def parser() -> argparse.ArgumentParser:
    made = argparse.ArgumentParser(description=__doc__)
    add_model_name(made)
    made.add_argument(
        *("-d", "--delegate"),
        action=argparse.BooleanOptionalAction,
        default=True,
        help="lower to XNNPACK what it takes",
    )
    made.add_argument("-r", "--etrecord", help="file for what the developer tools compare with")
    made.add_argument(
        *("-t", "--test_after_export"),
        action="store_true",
        help="run the program and compare it with the model",
    )
    made.add_argument("-o", "--output_dir", default=".", help="folder for the file")
    return made


def largest_error(program: ExecutorchProgramManager, methods: dict[str, Method]) -> float:
    """Of all outputs of all methods, beside the largest value of the same output."""
    loaded, worst = Runtime.get().load_program(program.buffer), 0.0
    for name, method in methods.items():
        inputs = torch.utils._pytree.tree_leaves(method.inputs)
        with torch.no_grad():
            expected = torch.utils._pytree.tree_leaves(method.module(*method.inputs))
        for ours, theirs in zip(loaded.load_method(name).execute(inputs), expected, strict=True):
            difference = (ours - theirs).abs().max() / theirs.abs().max().clamp(min=1e-6)
            worst = max(worst, difference.item())
    return worst


def main(argv: list[str] | None = None) -> int:
    arguments = parser()
    args = arguments.parse_args(argv)
    example = chosen_example(arguments, args.model_name)
    edge = to_edge_transform_and_lower(
        example.export(),
        partitioner=[XnnpackPartitioner()] if args.delegate else None,
        generate_etrecord=args.etrecord is not None,
    )
    program = edge.to_executorch()
    if args.etrecord:
        program.get_etrecord().save(args.etrecord)
    name = f"{args.model_name}_xnnpack_fp32"
    print(f"wrote {save_pte_program(program, name, args.output_dir)}")
    if not args.test_after_export:
        return 0
    error = largest_error(program, example.methods)
    print(f"largest error {error:.1e} of the largest output")
    return 0 if error <= LARGEST_ERROR else 1


if __name__ == "__main__":
    sys.exit(main())
