# SPDX-License-Identifier: BSD-3-Clause
"""Exports a model as a .pte file and compares the file with the model.

MODEL is a file of torch.export (.pt2), a Python model (model.py:name, or package.module:name), or an example model
(mv2, resnet18, ...; --list prints them). What `name` is, or gives when it is called:

    (module, inputs), (module, inputs, dynamic shapes)    inputs: a tuple, or a dictionary of those by keyword
    an ExportedProgram
    {"encode": ..., "decode": ...}                        several methods, each one of the above

Language models (a GGUF file, a folder of Hugging Face) go by `executorch chat`, `executorch serve`, or
`python -m executorch.extension.llm.export.export_llm`.

--preprocess and --postprocess put steps (below) before and after the model into the program: it takes a picture, bytes
[height, width, 3], and gives scores by class. What is quantized stays the model alone.

    executorch export mv2 --preprocess "resize 256, crop 224, normalize imagenet" --postprocess "softmax, top 5"
    executorch export my_model.py:tiny --backend xnnpack --quantize int8 --calibrate images.pt -o tiny.pte
    executorch export my_model.py:tiny --quantize auto --loss 1% --metric top1 --data photos -o tiny.pte

--quantize auto keeps layers in more bits until samples of --data that chose nothing lose no more than --loss, in the
order of loss saved for time and size; why, says tiny.accuracy.md. `executorch eval --help` says what data and metrics
are.
"""

from __future__ import annotations

import argparse
from pathlib import Path

from executorch.cli.eval import Loss, add_reading
from executorch.cli.steps import add_steps, processing_of, tables

DEFAULT_BACKEND = "xnnpack"


def quantizations() -> list[str]:
    """What --quantize may say of any backend."""
    from executorch.backends.discovery import backends

    return list(dict.fromkeys(each for one in backends().values() for each in one.quantizations()))


def loss(text: str) -> Loss:
    """1% or 0.01"""
    try:
        value = float(text.removesuffix("%"))
    except ValueError:
        value = -1.0
    if not value >= 0:
        raise argparse.ArgumentTypeError(f"expected a loss such as 1% or 0.01, found {text!r}")
    is_share = text.endswith("%")
    return Loss(text, value / 100 if is_share else value, is_share)


def parser(prog: str) -> argparse.ArgumentParser:
    from executorch.backends.discovery import backends
    from executorch.cli import plugins
    from executorch.cli.main import command_parser

    made = command_parser(prog, __doc__)
    made.epilog = tables()
    made.add_argument("model", nargs="?", metavar="MODEL", help="see above")
    made.add_argument(
        "-o", "--output", type=Path, metavar="FILE", help="default: MODEL's name, .pte"
    )
    made.add_argument(
        "--backend",
        choices=(*backends(), plugins.NO_BACKEND, *plugins.backends()),
        default=DEFAULT_BACKEND,
        help=f"who takes what it can, also a backend of an installed package; default: {DEFAULT_BACKEND}",
    )
    made.add_argument(
        "--soc", default="", metavar="NAME", help="the chip, of a backend for one, such as SM8650"
    )
    made.add_argument(
        "--graph",
        type=Path,
        metavar="FILE",
        help="instead of a program, write what the backend's compiler is given; needs no SDK",
    )
    made.add_argument(
        "--quantize", choices=quantizations(), help="fewer bits, for a smaller and faster file"
    )
    add_steps(made)
    made.add_argument(
        "--recipe", metavar="NAME", help="any registered recipe, such as xnnpack_fp32"
    )
    made.add_argument(
        "--calibrate",
        type=Path,
        metavar="FILE",
        help="inputs of several calls to take ranges of: torch.save of a list of tuples, or what --data may be; "
        "default: the example inputs",
    )
    made.add_argument(
        "--loss",
        type=loss,
        metavar="LOSS",
        help="of --quantize auto: 1%% of what the model's metric is, or a number in the metric's unit",
    )
    made.add_argument(
        "--data", type=Path, metavar="FOLDER", help="of --quantize auto: a folder, or a .npz file"
    )
    add_reading(made)
    made.add_argument(
        "--strict",
        action=argparse.BooleanOptionalAction,
        help="trace by Python's bytecode, or by running Python once; default: the first that works",
    )
    made.add_argument(
        "--etrecord", type=Path, metavar="FILE", help="what the developer tools compare with"
    )
    made.add_argument(
        "--check",
        action=argparse.BooleanOptionalAction,
        default=True,
        help="run the file and compare it with the model (default)",
    )
    made.add_argument(
        "--list", action="store_true", help="print example models and recipes, and stop"
    )
    return made


def check(options: argparse.Namespace) -> None:
    """What is missing of the backend's SDK, options that it does not have, and steps that there are not."""
    from executorch.backends.discovery import backends

    processing_of(options)
    backend = None if options.recipe or options.list else backends().get(options.backend)
    for option in ("soc", "graph"):
        field = f"{option}s"
        if getattr(options, option) and not (backend and getattr(backend, field)):
            able = [name for name, each in backends().items() if getattr(each, field)]
            raise ValueError(f"--{option}: expected --backend {' or '.join(able)}")
    if backend is None or options.graph or not (reason := backend.why_absent()):
        return
    way = "; --graph FILE writes what it is given, without it" if backend.graphs else ""
    raise ImportError(f"{reason}{way}")


def run(options: argparse.Namespace) -> int:
    from executorch.cli import exporting

    if options.list:
        print(exporting.listing())
        return 0
    if options.model is None:
        raise ValueError("expected a MODEL; `executorch export --list` prints the example models")
    if options.recipe and options.quantize:
        raise ValueError(
            "expected --recipe or --quantize, found both: a recipe says how it quantizes"
        )
    auto = options.quantize == "auto"
    for option in ("loss", "data"):
        if (getattr(options, option) is not None) is not auto:
            expected = f"--{option} with --quantize auto" if auto else "--quantize auto"
            found = "none" if auto else f"--{option} without it"
            raise ValueError(f"expected {expected}, found {found}")
    if auto and options.calibrate is not None:
        raise ValueError("expected --data alone, which calibrates, too, found --calibrate")
    return exporting.export_model(options)
