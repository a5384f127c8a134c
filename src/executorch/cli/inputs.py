# SPDX-License-Identifier: BSD-3-Clause
"""--inputs, --shape and --seed: the arrays that a program runs on, for all commands that run one."""

from __future__ import annotations

import argparse
from pathlib import Path
from typing import Any


def add_inputs(parser: argparse.ArgumentParser) -> None:
    parser.add_argument("--inputs", type=Path, metavar="FILE", help=".npz or .npy")
    parser.add_argument(
        "--shape",
        type=shape,
        action="append",
        default=[],
        metavar="INPUT=1x3x64x64",
        help="sizes of an input, by name or number",
    )
    parser.add_argument("--seed", type=int, default=0, help="draws other inputs")


def shape(text: str) -> tuple[str, tuple[int, ...]]:
    """`image=1x3x64x64` or `0=1x3x64x64`."""
    name, equals, sizes = text.partition("=")
    try:
        found = tuple(int(size) for size in sizes.split("x")) if sizes else ()
    except ValueError:
        found = (-1,)
    if not equals or not name or any(size < 0 for size in found):
        raise argparse.ArgumentTypeError(f"expected INPUT=1x3x64x64, found {text!r}")
    return name, found


def read(path: Path) -> dict[str, Any]:
    """By name; those of a .npy, or without a name in a .npz (arr_0, ...), by number."""
    import numpy

    if path.suffix == ".npy":
        return {"0": numpy.load(path, allow_pickle=False)}
    if path.suffix == ".npz":
        with numpy.load(path, allow_pickle=False) as file:
            return {name.removeprefix("arr_"): file[name] for name in file.files}
    raise ValueError(f"{path}: expected a .npz or .npy file")
