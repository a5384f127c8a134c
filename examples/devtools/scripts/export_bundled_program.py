# SPDX-License-Identifier: BSD-3-Clause
"""`python -m executorch.examples.devtools.scripts.export_bundled_program -m mv2`: an example model as
mv2_bundled.bpte, with the calls of the example and what eager PyTorch gives for them as test cases; mv2_etrecord.bin
is beside it."""

from __future__ import annotations

import argparse
from pathlib import Path

import torch

from executorch.devtools.bundled_program.config import MethodTestCase, MethodTestSuite
from executorch.devtools.bundled_program.serialize import write_bundled_program
from executorch.examples.models.command_line import add_model_name, chosen_example
from executorch.examples.models.example import Example
from executorch.exir import ExecutorchProgramManager, to_edge


def suites_of(example: Example) -> list[MethodTestSuite]:
    """Of methods whose outputs are tensors; others cannot be verified."""
    suites = []
    for name, method in example.methods.items():
        calls = [torch.utils._pytree.tree_leaves(call) for call in method.calls or (method.inputs,)]
        cases = [
            MethodTestCase(call, outputs)
            for call, outputs in zip(calls, method.eager(), strict=True)
            if all(isinstance(output, torch.Tensor) for output in outputs)
        ]
        suites.append(MethodTestSuite(name, cases))
    return suites


def lower(example: Example) -> ExecutorchProgramManager:
    return to_edge(example.export(), generate_etrecord=True).to_executorch()


def main(argv: list[str] | None = None) -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    add_model_name(parser)
    parser.add_argument("-d", "--dir", default=".", type=Path, help="folder for the files")
    options = parser.parse_args(argv)
    example = chosen_example(parser, options.model_name)
    program = lower(example)
    options.dir.mkdir(parents=True, exist_ok=True)
    path = options.dir / f"{options.model_name}_bundled.bpte"
    write_bundled_program(program, suites_of(example), path)
    record = options.dir / f"{options.model_name}_etrecord.bin"
    program.get_etrecord().save(record)
    print(f"wrote {path} and {record}")


if __name__ == "__main__":
    main()
