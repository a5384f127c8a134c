# SPDX-License-Identifier: BSD-3-Clause
"""Rows of the corpus as Core ML models: whether a delegate takes them, and whether what it computes, by the evaluator
of ML Programs, is what eager PyTorch computes.

usage: python -m executorch.backends.apple.coreml.test.corpus_values [--target iOS18] [--precision FLOAT32]
           [--bits 4] [--filter x] [--every 3] [--runtime]
"""

from __future__ import annotations

import argparse
import re
import traceback
import warnings
from collections import Counter
from dataclasses import dataclass, field, replace
from typing import Any

import torch
from torch.utils import _pytree as pytree

from executorch.backends.apple.coreml.aot.library import ct
from executorch.backends.apple.coreml.compiler import CoreMLBackend
from executorch.backends.apple.coreml.partition import CoreMLPartitioner
from executorch.backends.apple.coreml.recipes.provider import eight_bits
from executorch.backends.apple.coreml.test import mil_evaluator
from executorch.backends.apple.coreml.test.mil_operations import Unknown
from executorch.backends.test.conformance.backend import Backend
from executorch.backends.test.conformance.lowered import Lowered, lower
from executorch.backends.test.corpus import rows
from executorch.backends.test.corpus.row import Row
from executorch.backends.test.suite.rows import difference
from executorch.exir.error import ExportError
from executorch.exir.graph_facts import op_name

# What becomes of a row.
WHOLE, PART, CPU = "whole", "in part", "CPU"  # who computes it
REFUSED, TORCH = "refused", "torch"  # exporting says why, or torch.export does
UNKNOWN = "not evaluated"  # converted; the evaluator lacks an operation
WRONG, FAILED = "wrong", "failed"  # never
KINDS = (WHOLE, PART, CPU, REFUSED, TORCH, UNKNOWN, WRONG, FAILED)
# Results of a model in float16 have 11 bits, and errors of the values before them add up: of 2^-11 for each, a hundred
# of the worst kind are 0.05. What is computed otherwise is off by more than that somewhere.
HALF = 0.05


@dataclass
class Outcome:
    kind: str
    text: str = ""
    left: Counter[str] = field(default_factory=Counter)


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
WEIGHTED = {4: TABLES, 8: (torch.nn.Linear, torch.nn.modules.conv._ConvNd)}


def in_few_bits(made_for: Backend, bits: int) -> FewBits:
    return FewBits(**vars(made_for) | {"quantize": lambda: eight_bits(torch.float32)}, bits=bits)


def outcome_of(row: Row, made_for: Backend, tolerance: float = 0.0) -> Outcome:
    """`tolerance`: of the model's precision."""
    given = {"dynamic_shapes": row.shapes(), "strict": False}
    try:
        with warnings.catch_warnings(), torch.no_grad():
            warnings.simplefilter("ignore")
            module = made_for.prepared(row.module(), row.inputs, **given)
            torch.export.export(module, row.inputs, **given)
    except Exception as error:
        return Outcome(TORCH, str(error))
    try:
        with warnings.catch_warnings(), torch.no_grad():
            warnings.simplefilter("ignore")
            lowered = lower(made_for, row.module(), row.inputs, **given)
            return _compared(row, lowered, tolerance)
    except Unknown as unknown:
        return Outcome(UNKNOWN, str(unknown))
    except ExportError as error:
        return Outcome(REFUSED, str(error))
    except Exception as error:
        place = traceback.extract_tb(error.__traceback__)[-1]
        return Outcome(FAILED, f"{type(error).__name__} in {place.name}: {error}")


def _compared(row: Row, lowered: Lowered, tolerance: float) -> Outcome:
    nodes = lowered.manager.exported_program().graph.nodes
    left = Counter(name for node in nodes if (name := op_name(node)) and "delegate" not in name)
    if not lowered.delegates:
        return Outcome(CPU, left=left)
    run, module = lowered.runner(), lowered.modules["forward"]
    for inputs in row.calls:
        expected = pytree.tree_leaves(
            module(*pytree.tree_map_only(torch.Tensor, torch.clone, inputs))
        )
        found = run(*inputs)
        text = difference(row, found, expected, max(row.tolerance, tolerance), 0.0)
        if text:
            return Outcome(WRONG, text, left)
    return Outcome(PART if left else WHOLE, left=left)


def has_weights(row: Row, bits: int | None) -> bool:
    return bits is None or any(isinstance(each, WEIGHTED[bits]) for each in row.module().modules())


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--target", help="iOS15 to iOS18; the least that is needed unless given")
    parser.add_argument("--precision", default="FLOAT32", choices=("FLOAT16", "FLOAT32"))
    parser.add_argument("--filter", default="", help="regular expression over names of rows")
    parser.add_argument("--bits", type=int, choices=(4, 8), help="of weights; floats unless given")
    parser.add_argument("--runtime", action="store_true", help="by the delegate, on a stand-in")
    parser.add_argument("--every", type=int, default=1, help="every so many rows")
    options = parser.parse_args()
    made_for = backend(options.target, options.precision)
    if options.bits:
        made_for = in_few_bits(made_for, options.bits)
    if options.runtime:
        made_for = in_runtime(made_for)
    tolerance = HALF if options.precision == "FLOAT16" else 0.0
    counts: Counter[str] = Counter()
    for row in rows()[:: options.every]:
        if re.search(options.filter, row.id) and has_weights(row, options.bits):
            found = outcome_of(row, made_for, tolerance)
            counts[found.kind] += 1
            if found.kind not in (WHOLE, TORCH):
                print(f"{found.kind}: {row.id}: {found.text[:600]} {dict(found.left)}", flush=True)
    print(
        f"{options.target} {options.precision} {options.bits or ''}: "
        + ", ".join(f"{counts[k]} {k}" for k in KINDS)
    )


if __name__ == "__main__":
    main()
