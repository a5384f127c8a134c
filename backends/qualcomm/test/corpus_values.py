# SPDX-License-Identifier: BSD-3-Clause
"""Rows of the corpus as graphs of QNN, kept by a recorder: whether a delegate takes them, and whether what it computes,
by the evaluator, is what eager PyTorch computes; of integers, what the quantized program computes.

usage: python -m executorch.backends.qualcomm.test.corpus_values [--quantize {8a8w,16a8w,16a4w}] [--filter REGEX]
                                                                 [--every N] [--rows A:B] [--extremes]
"""

from __future__ import annotations

import argparse
import re
from collections.abc import Callable, Mapping

from executorch.backends.qualcomm.aot.door import using
from executorch.backends.qualcomm.partition.qnn_partitioner import QnnPartitioner
from executorch.backends.qualcomm.quantizer.quantizer import QuantDtype
from executorch.backends.qualcomm.test.recorder import Recorder, quantizer, specs
from executorch.backends.qualcomm.test.reference.evaluator import evaluate
from executorch.backends.test.conformance.backend import Backend, Run
from executorch.backends.test.conformance.corpus_values import add_choice_of_rows, print_outcomes

DTYPES = {name: QuantDtype[f"use_{name}"] for name in ("8a8w", "16a8w", "16a4w")}


def backend(door: Recorder, dtype: QuantDtype | None = None) -> Backend:
    """To be used with this door in the SDK's place."""

    def load(payload: bytes, named_data: Mapping[str, bytes]) -> Run:
        (graph,) = door.contexts[int(re.search(rb"context (\d+)", payload)[1]) - 1]
        return lambda inputs: evaluate(graph, inputs)

    quantize: Callable[[], object] | None = None if dtype is None else lambda: quantizer(dtype)
    return Backend(
        "QnnBackend",
        lambda: QnnPartitioner(specs()),
        name=f"QnnBackend, {dtype.name}" if dtype else "",
        named_data=False,
        dynamic_shapes=False,
        wide_integers=False,
        runtime=False,
        quantize=quantize,
        reference=load,
        by_memory=True,
    )


def main(argv: list[str] | None = None) -> None:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--quantize", choices=DTYPES, help="first, with these dtypes")
    add_choice_of_rows(parser)
    options = parser.parse_args(argv)
    with using(Recorder()) as door:
        made_for = backend(door, DTYPES.get(options.quantize))
        print_outcomes(options, made_for, f"Qualcomm {options.quantize or 'float'}")


if __name__ == "__main__":
    main()
