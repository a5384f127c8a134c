# SPDX-License-Identifier: BSD-3-Clause
"""Rows of the corpus as payloads of MPS: whether a delegate takes them, and whether what it computes, by the evaluator,
is what eager PyTorch computes.

usage: python -m executorch.backends.apple.mps.test.corpus_values [--use_fp16] [--filter x] [--every 3]
"""

from __future__ import annotations

import argparse
import dataclasses
from functools import partial

import torch

from executorch.backends.apple.mps.test import conformance
from executorch.backends.test.conformance.backend import Backend
from executorch.backends.test.conformance.corpus_values import add_choice_of_rows, print_outcomes


def backend(use_fp16: bool) -> Backend:
    (found,) = conformance.BACKENDS
    return dataclasses.replace(
        found,
        partitioner=partial(conformance.partitioner, use_fp16),
        floats_inside=torch.float16 if use_fp16 else torch.float32,
    )


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--use_fp16", action="store_true", help="in half precision")
    add_choice_of_rows(parser)
    options = parser.parse_args()
    name = "float16" if options.use_fp16 else "float32"
    print_outcomes(options, backend(options.use_fp16), name)


if __name__ == "__main__":
    main()
