# SPDX-License-Identifier: BSD-3-Clause
"""Options that several commands take, `executorch run` included."""

from __future__ import annotations

import argparse
from dataclasses import dataclass
from pathlib import Path

HERE = "here"  # of --against: the runtime of this package
XNNPACK = "XnnpackBackend"
_SHAPE = "INPUT=1x3x64x64"


@dataclass(frozen=True)
class Shape:
    """Of --shape. `input`: a name or a number; `dtype`: None unless it is asked for."""

    input: str
    sizes: tuple[int, ...]
    dtype: str | None = None


def add_data(parser: argparse.ArgumentParser) -> None:
    parser.add_argument(
        "--data", type=Path, metavar="PTD", help="the data file of a program that has one (.ptd)"
    )


def add_inputs(parser: argparse.ArgumentParser, otherwise: str = "drawn") -> None:
    """`otherwise`: what the inputs are without these options."""
    parser.add_argument(
        "--inputs",
        action="append",
        default=[],
        metavar="FILE",
        help="values of the inputs; repeatable: .npy files in their order (or INPUT=FILE), a .npz file by names or "
        f"numbers, a .pt file (torch.save) of all; {otherwise} unless given",
    )
    parser.add_argument(
        "--shape",
        type=shape,
        action="append",
        default=[],
        metavar=_SHAPE,
        help="sizes of an input that is drawn, by its name or number; repeatable; INPUT=1x3:int64 says the dtype, too",
    )
    parser.add_argument("--seed", type=int, default=0, help="draws other values")


def shape(text: str) -> Shape:
    """`image=1x3x64x64`, `0=1x3x64x64`, `ids=1x128:int64`; `x=` has no dimensions."""
    name, equals, rest = text.partition("=")
    sizes, colon, dtype = rest.partition(":")
    try:
        found = tuple(int(size) for size in sizes.split("x")) if sizes else ()
    except ValueError:
        found = (-1,)
    if not equals or not name or any(size < 0 for size in found) or (colon and not dtype):
        raise argparse.ArgumentTypeError(f"expected {_SHAPE}, found {text!r}")
    return Shape(name, found, dtype or None)


def add_device(parser: argparse.ArgumentParser) -> None:
    parser.add_argument(
        "--device",
        default="local",
        metavar="WIRE",
        help="where it runs: local (the default), adb[:SERIAL], ssh:HOST or qemu:TARGET (aarch64, armv7, riscv64, "
        "cortex-m55); :/FOLDER behind it says where there is room. executor_runner is pushed there, and nothing stays",
    )
    parser.add_argument(
        "--runner",
        type=Path,
        metavar="FILE",
        help="the executor_runner of that system; what its preset built in the source tree, unless given",
    )
