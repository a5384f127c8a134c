# SPDX-License-Identifier: BSD-3-Clause
"""Rows of the corpus as graphs of ENN, told through the door to a stand-in: whether a delegate takes them, and whether
what it computes, by the evaluator, is what eager PyTorch computes; of int8, what the quantized program computes.

usage: python -m executorch.backends.samsung.test.corpus_values [--int8] [--filter REGEX] [--every N] [--rows A:B]
                                                                [--extremes]
"""

from __future__ import annotations

import argparse

from executorch.backends.samsung.quantizer import EnnQuantizer
from executorch.backends.samsung.test.stand_in import backend
from executorch.backends.test.conformance.corpus_values import add_choice_of_rows, print_outcomes


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--int8", action="store_true", help="quantized first")
    add_choice_of_rows(parser)
    options = parser.parse_args()
    made_for = backend(EnnQuantizer if options.int8 else None)
    print_outcomes(options, made_for, f"Samsung{' int8' if options.int8 else ''}")


if __name__ == "__main__":
    main()
