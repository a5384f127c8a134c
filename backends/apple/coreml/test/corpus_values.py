# SPDX-License-Identifier: BSD-3-Clause
"""Rows of the corpus as Core ML models: whether a delegate takes them, and whether what it computes, by the evaluator
of ML Programs, is what eager PyTorch computes.

usage: python -m executorch.backends.apple.coreml.test.corpus_values [--target iOS18] [--precision FLOAT32]
           [--bits 4] [--filter x] [--every 3] [--runtime]
"""

from __future__ import annotations

import argparse
from dataclasses import dataclass, replace
from typing import Any

import torch

from executorch.backends.apple.coreml.aot.library import ct
from executorch.backends.apple.coreml.compiler import CoreMLBackend
from executorch.backends.apple.coreml.partition import CoreMLPartitioner
from executorch.backends.apple.coreml.recipes.provider import eight_bits
from executorch.backends.apple.coreml.test import mil_evaluator
from executorch.backends.test.conformance.backend import Backend
from executorch.backends.test.conformance.corpus_values import add_choice_of_rows, print_outcomes
from executorch.backends.test.corpus.row import Row


def backend(target: str | None, precision: str, **options: Any) -> Backend:
    specs = CoreMLBackend.generate_compile_specs(
        minimum_deployment_target=ct.target[target] if target else None,
        compute_precision=ct.precision[precision],
    )
    return Backend(
        "CoreMLBackend",
        lambda: CoreMLPartitioner(compile_specs=specs, **options),
        reference=mil_evaluator.load,
        converts=True,
        runtime=False,
        floats_inside=torch.float16 if precision == "FLOAT16" else torch.float32,
    )


def in_runtime(made_for: Backend) -> Backend:
    """Files are written and loaded, and the delegate of runtime/ gives and takes the evaluator's values."""
    from executorch.backends.apple.coreml.test.stand_in import stand_in

    stand_in()
    return replace(made_for, runtime=True)


@dataclass(frozen=True)
class FewBits(Backend):
    """Weights of 8 bits by the quantizer, of all layers that have any; of 4 by torchao, of linear layers and tables."""

    bits: int = 8

    def prepared(
        self, module: torch.nn.Module, inputs: tuple[Any, ...], **export: Any
    ) -> torch.nn.Module:
        if self.bits == 8:
            return super().prepared(module, inputs, **export)
        from torchao.quantization.granularity import PerAxis
        from torchao.quantization.quant_api import IntxWeightOnlyConfig, quantize_

        config = IntxWeightOnlyConfig(weight_dtype=torch.int4, granularity=PerAxis(0))
        quantize_(module, config, lambda each, _: isinstance(each, TABLES))
        return module


TABLES = (torch.nn.Linear, torch.nn.Embedding)
GEMM = {4: TABLES, 8: (torch.nn.Linear, torch.nn.modules.conv._ConvNd)}


def in_few_bits(made_for: Backend, bits: int) -> FewBits:
    return FewBits(**vars(made_for) | {"quantize": lambda: eight_bits(torch.float32)}, bits=bits)


def has_weights(row: Row, bits: int | None) -> bool:
    return bits is None or any(isinstance(each, GEMM[bits]) for each in row.module().modules())


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--target", help="iOS15 to iOS18; the least that is needed unless given")
    parser.add_argument("--precision", default="FLOAT32", choices=("FLOAT16", "FLOAT32"))
    parser.add_argument("--bits", type=int, choices=(4, 8), help="of weights; floats unless given")
    parser.add_argument("--runtime", action="store_true", help="by the delegate, on a stand-in")
    add_choice_of_rows(parser)
    options = parser.parse_args()
    made_for = backend(options.target, options.precision)
    if options.bits:
        made_for = in_few_bits(made_for, options.bits)
    if options.runtime:
        made_for = in_runtime(made_for)
    name = f"{options.target} {options.precision} {options.bits or ''}"
    print_outcomes(options, made_for, name, lambda row: has_weights(row, options.bits))


if __name__ == "__main__":
    main()
