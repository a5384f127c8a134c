# SPDX-License-Identifier: BSD-3-Clause
"""The options that put steps before and after a model into its program."""

from __future__ import annotations

import argparse
from pathlib import Path

from executorch.extension.processing.steps import STEPS, Processing, table


def add_steps(made: argparse.ArgumentParser) -> None:
    for option in STEPS:
        made.add_argument(option, default="", metavar="STEPS", help="see the end of this help")
    made.add_argument(
        "--labels",
        type=Path,
        metavar="FILE",
        help="a class's name a line, which `executorch wrap` and `run` give with scores",
    )


def tables() -> str:
    """For the end of --help."""
    each = [f"{option}, with a comma between steps:\n{table(option)}" for option in STEPS]
    return "\n\n".join(each)


def processing_of(options: argparse.Namespace) -> Processing:
    """ValueError for steps that there are not, and lines without a name."""
    labels: list[str] = []
    if options.labels is not None:
        text = options.labels.read_text(encoding="utf-8").rstrip()
        labels = [line.strip() for line in text.splitlines()] or [""]
        if "" in labels:
            raise ValueError(
                f"{options.labels}: expected a class's name in each line, found line {labels.index('') + 1} empty"
            )
    return Processing(options.preprocess, options.postprocess, tuple(labels))
