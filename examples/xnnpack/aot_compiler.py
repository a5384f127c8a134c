# SPDX-License-Identifier: BSD-3-Clause
"""`python -m executorch.examples.xnnpack.aot_compiler --model_name="mv2" --delegate`: a model as mv2_xnnpack_fp32.pte;
with --quantize as mv2_xnnpack_q8.pte."""

from __future__ import annotations

import argparse
import sys

import torch

from executorch.backends.xnnpack import XnnpackPartitioner
from executorch.examples.models.command_line import add_model_name, chosen_example
from executorch.examples.models.comparison import largest_error
from executorch.examples.models.example import Method
from executorch.exir import ExecutorchProgramManager, to_edge_transform_and_lower
from executorch.extension.export_util import save_pte_program
from executorch.runtime import Runtime

# Beside the norm of an output; a quantized program may err this much more than its model in PyTorch does.
LARGEST_ERROR = 1e-3
QUANTIZED_EXCESS = 1.2


def parser() -> argparse.ArgumentParser:
    made = argparse.ArgumentParser(description=__doc__)
    add_model_name(made)
    made.add_argument(
        *("-d", "--delegate"),
        action=argparse.BooleanOptionalAction,
        default=True,
        help="lower to XNNPACK what it takes",
    )
    made.add_argument(
        *("-q", "--quantize"),
        action="store_true",
        help="8-bit operators, calibrated with the example's inputs",
    )
    made.add_argument("-r", "--etrecord", help="file for what the developer tools compare with")
    made.add_argument(
        *("-t", "--test_after_export"),
        action="store_true",
        help="run the program and compare it with the model",
    )
    made.add_argument("-o", "--output_dir", default=".", help="folder for the file")
    return made


def outputs(methods: dict[str, Method]) -> list[torch.Tensor]:
    with torch.no_grad():
        return [
            value
            for method in methods.values()
            for value in torch.utils._pytree.tree_leaves(method.module(*method.inputs))
        ]


def outputs_of_program(
    program: ExecutorchProgramManager, methods: dict[str, Method]
) -> list[torch.Tensor]:
    loaded, found = Runtime.get().load_program(program.buffer), []
    for name, method in methods.items():
        inputs = torch.utils._pytree.tree_leaves(method.inputs)
        found += loaded.load_method(name).execute(inputs)
    return found


def main(argv: list[str] | None = None) -> int:
    arguments = parser()
    args = arguments.parse_args(argv)
    methods = float_methods = chosen_example(arguments, args.model_name).methods
    if args.quantize:
        from executorch.examples.xnnpack.quantization import quantized_method  # loads torchao

        methods = {name: quantized_method(method) for name, method in methods.items()}
    edge = to_edge_transform_and_lower(
        {name: method.export() for name, method in methods.items()},
        partitioner=[XnnpackPartitioner()] if args.delegate else None,
        generate_etrecord=args.etrecord is not None,
    )
    program = edge.to_executorch()
    if args.etrecord:
        program.get_etrecord().save(args.etrecord)
    precision = "q8" if args.quantize else "fp32"
    name = f"{args.model_name}_xnnpack_{precision}"
    print(f"wrote {save_pte_program(program, name, args.output_dir)}")
    if not args.test_after_export:
        return 0
    expected = outputs(float_methods)
    error = largest_error(outputs_of_program(program, methods), expected)
    limit = LARGEST_ERROR + QUANTIZED_EXCESS * largest_error(outputs(methods), expected)
    print(f"error {error:.1e} beside the float model's outputs, allowed {limit:.1e}")
    return 0 if error <= limit else 1


if __name__ == "__main__":
    sys.exit(main())
