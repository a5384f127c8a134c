# SPDX-License-Identifier: BSD-3-Clause
"""Rows of the corpus, quantized and lowered: each delegate's TFLite model in LiteRT beside the same calls in PyTorch,
on the same int8 inputs.

    python -m executorch.backends.nxp.test.corpus_values [--filter REGEX] [--every N] [--rows A:B]

says which rows are further off than a quantum, and sums."""

from __future__ import annotations

import argparse
import traceback
import warnings
from collections import Counter
from dataclasses import dataclass, field
from typing import Any
from unittest import mock

import torch

from executorch.backends.nxp.test import each_call, stand_in
from executorch.backends.test.conformance.corpus_values import (
    CPU,
    FAILED,
    KINDS,
    PART,
    TORCH,
    WHOLE,
    WRONG,
    add_choice_of_rows,
    chosen_rows,
)
from executorch.backends.test.conformance.lowered import Lowered, exported, lower_exported
from executorch.backends.test.corpus.row import Row
from executorch.exir.graph_facts import op_name
from executorch.exir.lowered_backend_module import LoweredBackendModule

QUANTUM = 1  # that a result may be off, of one call
_ORIGINAL = LoweredBackendModule.original_module


@dataclass
class Outcome:
    """`quanta`: by how many a delegate is off at most; `calls`: that delegates have."""

    kind: str
    text: str = ""
    quanta: int = 0
    calls: int = 0
    left: Counter[str] = field(default_factory=Counter)


def outcome_of(row: Row) -> Outcome:
    given = {"dynamic_shapes": row.shapes(), "strict": False}
    made_for = stand_in.backend()
    try:
        with warnings.catch_warnings(), torch.no_grad():
            warnings.simplefilter("ignore")
            program = exported(made_for, row.module(), row.inputs, **given)
    except Exception as error:
        return Outcome(TORCH, f"{type(error).__name__}: {error}")
    try:
        with warnings.catch_warnings(), torch.no_grad():
            warnings.simplefilter("ignore")
            return compared(lower_exported(made_for, {"forward": program}), row.inputs)
    except Exception as error:
        place = traceback.extract_tb(error.__traceback__)[-1]
        return Outcome(FAILED, f"{type(error).__name__} in {place.name}: {error}")


def compared(lowered: Lowered, inputs: tuple[Any, ...]) -> Outcome:
    """PyTorch's results go on from one delegate to the next."""
    nodes = lowered.manager.exported_program().graph.nodes
    left = Counter(name for node in nodes if (name := op_name(node)) and "delegate" not in name)
    if not lowered.delegates:
        return Outcome(CPU, left=left)
    off: list[tuple[int, str]] = []

    def watched(module: LoweredBackendModule) -> Any:
        return each_call.Watched(_ORIGINAL.fget(module), bytes(module.processed_bytes), off)

    with mock.patch.object(LoweredBackendModule, "original_module", property(watched)):
        lowered.manager.exported_program().module()(*inputs)
    quanta, name = max(off)
    kind = PART if any("quantized" not in name for name in left) else WHOLE
    kind = WRONG if quanta > QUANTUM else kind
    text = f"{quanta} quanta of {name}" if kind == WRONG else ""
    calls = sum(map(num_calls, lowered.delegates))
    return Outcome(kind, text, quanta, calls, left)


def num_calls(delegate: LoweredBackendModule) -> int:
    """Of operators, beside those that quantize and dequantize."""
    names = map(op_name, _ORIGINAL.fget(delegate).graph.nodes)
    return sum(bool(name) and "quantized_decomposed" not in name for name in names)


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    add_choice_of_rows(parser)
    options = parser.parse_args()
    stand_in.use_stand_in()
    counts: Counter[str] = Counter()
    calls = 0
    for number, row in chosen_rows(options):
        found = outcome_of(row)
        counts[found.kind] += 1
        calls += found.calls
        if found.kind not in (WHOLE, TORCH):
            text = f"{row.id}: {found.text[:600]} {dict(found.left)}"
            print(f"{number} {found.kind}: {text}", flush=True)
    print(
        f"NXP: {', '.join(f'{counts[kind]} {kind}' for kind in KINDS)}; {calls} calls in delegates"
    )


if __name__ == "__main__":
    main()
