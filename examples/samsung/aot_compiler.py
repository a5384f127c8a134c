# SPDX-License-Identifier: BSD-3-Clause
"""`python -m executorch.examples.samsung.aot_compiler -m mv2 -c E9955`: a model as mv2_exynos_fp32.pte; with -p A8W8 as
mv2_exynos_A8W8.pte, calibrated with the example's inputs. Without Exynos AI LiteCore the graphs that it is to compile
are left in a folder, which the error names."""

from __future__ import annotations

import argparse
import sys

from torch.export import export

from executorch.backends.samsung.partition.enn_partitioner import EnnPartitioner
from executorch.backends.samsung.serialization.compile_options import (
    gen_samsung_backend_compile_spec,
)
from executorch.examples.models.command_line import add_model_name, chosen_example
from executorch.exir import to_edge_transform_and_lower
from executorch.exir.backend.lowering.external.compiler import MissingCompiler
from executorch.extension.export_util import save_pte_program


def main(argv: list[str] | None = None) -> int:
    parser = argparse.ArgumentParser(description=__doc__)
    add_model_name(parser)
    parser.add_argument("-c", "--chipset", default="E9955", help="E9955 or E9965")
    parser.add_argument("-p", "--precision", choices=["A8W8"], help="unless given, floats")
    parser.add_argument("-o", "--output_dir", default=".", help="folder for the file")
    args = parser.parse_args(argv)
    specs = [gen_samsung_backend_compile_spec(args.chipset)]
    (method,) = chosen_example(parser, args.model_name).methods.values()
    model = method.module
    if args.precision:
        from executorch.backends.samsung.utils.export_utils import quantize_module  # loads torchao

        model = quantize_module(model, method.inputs, [method.inputs], args.precision)
    try:
        edge = to_edge_transform_and_lower(
            export(model, method.inputs), partitioner=[EnnPartitioner(specs)]
        )
    except MissingCompiler as missing:
        print(f"error: {missing}", file=sys.stderr)
        return 1
    name = f"{args.model_name}_exynos_{args.precision or 'fp32'}"
    print(f"wrote {save_pte_program(edge.to_executorch(), name, args.output_dir)}")
    return 0


if __name__ == "__main__":
    sys.exit(main())
