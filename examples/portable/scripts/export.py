# SPDX-License-Identifier: BSD-3-Clause
"""`python -m executorch.examples.portable.scripts.export --model_name=add`: a model of examples/models as add.pte."""

from __future__ import annotations

import argparse

import torch

from executorch.examples.models.command_line import add_model_name, chosen_example
from executorch.exir import ExecutorchBackendConfig, to_edge
from executorch.extension.export_util import save_pte_program


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    add_model_name(parser)
    parser.add_argument("-s", "--strict", action="store_true", help="torch.export's strict mode")
    parser.add_argument(
        "-a", "--segment_alignment", default="0x1000", help="of the file's segments, in hex"
    )
    parser.add_argument(
        "-e", "--external_constants", action="store_true", help="constants in a .ptd file"
    )
    parser.add_argument("-o", "--output_dir", default=".", help="folder for the files")
    args = parser.parse_args()
    example = chosen_example(parser, args.model_name)
    with torch.no_grad():
        programs = {
            name: torch.export.export(
                method.module,
                method.inputs,
                dynamic_shapes=method.dynamic_shapes,
                strict=args.strict,
            )
            for name, method in example.methods.items()
        }
    config = ExecutorchBackendConfig(
        segment_alignment=int(args.segment_alignment, 16),
        external_constants=args.external_constants,
    )
    program = to_edge(programs).to_executorch(config)
    print(f"wrote {save_pte_program(program, args.model_name, args.output_dir)}")


if __name__ == "__main__":
    main()
