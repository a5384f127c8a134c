# SPDX-License-Identifier: BSD-3-Clause
"""`python -m executorch.examples.cuda.scripts.export -m mv2 -o .`: a model as mv2_cuda.pte, with its weights in
aoti_cuda_blob.ptd; on a computer with an NVIDIA GPU and Triton. Run it with both:
`executor_runner --model_path mv2_cuda.pte --data_path aoti_cuda_blob.ptd`."""

from __future__ import annotations

import argparse
import sys
from pathlib import Path

import torch

from executorch.backends.cuda.cuda_backend import CudaBackend
from executorch.backends.cuda.cuda_partitioner import CudaPartitioner
from executorch.backends.cuda.readiness import NeedsCuda
from executorch.examples.models.command_line import add_model_name, chosen_example
from executorch.exir import to_edge_transform_and_lower
from executorch.extension.export_util import save_pte_program
from executorch.extension.export_util.utils import save_processed_bytes

SWITCHES = (
    ("generate_etrecord", "also MODEL_cuda_etrecord.bin, for the developer tools"),
    ("save_processed_bytes", "also MODEL_cuda.bin, the delegate's payload alone"),
)


def parser() -> argparse.ArgumentParser:
    made = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    add_model_name(made)
    made.add_argument("-o", "--output_dir", default=".", help="folder for the files")
    for name, words in SWITCHES:
        made.add_argument(f"--{name}", action="store_true", help=words)
    return made


def main(argv: list[str] | None = None) -> int:
    arguments = parser()
    args = arguments.parse_args(argv)
    method = chosen_example(arguments, args.model_name).forward
    spec = CudaBackend.generate_method_name_compile_spec("forward")
    with torch.no_grad():
        exported = torch.export.export(
            method.module, method.inputs, dynamic_shapes=method.dynamic_shapes, strict=True
        )
    try:
        edge = to_edge_transform_and_lower(
            exported,
            partitioner=[CudaPartitioner([spec])],
            generate_etrecord=args.generate_etrecord,
        )
    except NeedsCuda as missing:
        print(f"error: {missing}", file=sys.stderr)
        return 1
    program = edge.to_executorch()
    folder, name = Path(args.output_dir), f"{args.model_name}_cuda"
    folder.mkdir(parents=True, exist_ok=True)
    print(f"wrote {save_pte_program(program, name, str(folder))}")
    if args.generate_etrecord:
        program.get_etrecord().save(str(folder / f"{name}_etrecord.bin"))
    if args.save_processed_bytes:
        save_processed_bytes(edge, folder / name)
    return 0


if __name__ == "__main__":
    sys.exit(main())
