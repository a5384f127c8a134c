# SPDX-License-Identifier: BSD-3-Clause
"""Says how good a model or a program is on data: a metric with its 95 % interval, and the program beside the model.

--data is a .npz file (arrays by the names of the inputs, or arr_0, arr_1 ...; `label`, or `target` of the outputs; a
row for each sample), or a folder of such, of pictures (in subfolders by label), sounds (.wav) or texts (.txt, with
--tokenizer).
Without labels and targets, programs are measured by what the model gives.

    executorch eval my_model.py:tiny tiny.pte --data photos --metric top1
"""

from __future__ import annotations

import argparse
from dataclasses import dataclass
from pathlib import Path


@dataclass(frozen=True)
class Loss:
    """Of --loss. `is_share`: of the model's own."""

    text: str
    value: float
    is_share: bool


def numbers(text: str) -> tuple[float, ...]:
    """0.485,0.456,0.406"""
    try:
        return tuple(float(each) for each in text.split(","))
    except ValueError:
        raise argparse.ArgumentTypeError(
            f"expected numbers such as 0.5 or 0.485,0.456,0.406, found {text!r}"
        ) from None


def add_reading(made: argparse.ArgumentParser) -> None:
    """How files become inputs, and what is measured of them; for all commands that read data."""
    made.add_argument(
        "--metric",
        metavar="NAME",
        help="top1, top5, perplexity, error, snr, mse, mae, cosine, or file.py:function of (outputs, target); default: "
        "top1 with labels, perplexity of texts, error of others",
    )
    made.add_argument(
        "--mean", type=numbers, default=(0.0,), help="of pictures from 0 to 1, for each channel"
    )
    made.add_argument(
        "--std", type=numbers, default=(1.0,), help="what (picture - mean) is divided by"
    )
    made.add_argument("--tokenizer", type=Path, metavar="FILE", help="a tokenizer.json, for texts")


def parser(prog: str) -> argparse.ArgumentParser:
    from executorch.cli.main import command_parser

    made = command_parser(prog, __doc__)
    made.add_argument(
        "subjects",
        nargs="+",
        metavar="MODEL_OR_PTE",
        help=".pte files, and a MODEL as `executorch export` takes it beside them",
    )
    made.add_argument("--data", type=Path, required=True, metavar="FOLDER", help="or a .npz file")
    add_reading(made)
    made.add_argument("--method", default="", help="forward, or the only one, unless given")
    made.add_argument("--json", action="store_true", help="JSON instead of text")
    made.add_argument(
        "--html", type=Path, metavar="PAGE", help="also a page, to be seen in a browser"
    )
    return made


def run(options: argparse.Namespace) -> int:
    from executorch.cli.evaluating import evaluate

    return evaluate(options)
