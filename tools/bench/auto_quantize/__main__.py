# SPDX-License-Identifier: BSD-3-Clause
"""`--quantize auto` beside 8 bits everywhere, floats, ONNX Runtime's static quantization and NNCF's accuracy control:
ten networks with trained weights, loss asked, loss found on other data, bytes, milliseconds.

usage: python -m executorch.tools.bench.auto_quantize [NAME ...] [--rivals PYTHON | --no-rivals] [--page FILE]

Rivals are packages (scripts/requirements-rivals.txt), installed once in build/rivals. With --priority others on the
machine wait while times are taken.
"""

from __future__ import annotations

import argparse
import sys
from collections.abc import Sequence
from pathlib import Path
from typing import Any

import numpy as np

from executorch.devtools.accuracy.intervals import interval
from executorch.devtools.accuracy.metrics import METRICS, Target
from executorch.tools import pages
from executorch.tools.accuracy.packages import ROOT, folder
from executorch.tools.bench.auto_quantize import page
from executorch.tools.bench.auto_quantize.cases import CASES, case
from executorch.tools.bench.auto_quantize.environment import rivals_python
from executorch.tools.bench.auto_quantize.ours import OURS, Network
from executorch.tools.bench.auto_quantize.turns import (
    milliseconds,
    outputs,
    python_of,
    spread,
)
from executorch.tools.measure.json_lines import append

RIVALS = {"onnxruntime": "onnxruntime.onnx", "nncf": "nncf.xml"}
FLOATS = {"onnxruntime float": "float.onnx", "openvino float": "float.xml"}
LIMIT = 600  # seconds for a rival
THREADS = (1, 2)


def measured(
    network: Network, rivals: str | None, engines: Sequence[str], priority: int
) -> dict[str, Any]:
    """All that the page says of a network. What `engines` does not name is as it was made before, where it was."""
    answers = network.answers()
    for name in (each for each in OURS if each in engines):
        answers[name] = network.program(name)
    if rivals:
        wanted = [name for name in RIVALS if name in engines]
        exported = network.rival("export", rivals, LIMIT) if wanted else {}
        for name in wanted:
            answers[name] = exported if "error" in exported else network.rival(name, rivals, LIMIT)
        for name, file in FLOATS.items():
            path = network.folder / file
            if path.exists():
                answers[name] = {"bytes": sum(each.stat().st_size for each in _files(path))}
    network.keep(answers)
    programs = {name: f"{name}.pte" for name in OURS} | (RIVALS | FLOATS if rivals else {})
    paths = {}
    for name, file in programs.items():
        if "error" not in answers.get(name, {"error": "not made"}):
            path = network.folder / file, python_of(file, rivals or "")
            try:
                answers[name]["other"] = _lost(outputs(*path, network.other), network.wanted)
                paths[name] = path
            except RuntimeError as problem:
                answers[name]["error"] = str(problem).strip().splitlines()[-1]
    for threads in THREADS:
        times = milliseconds(paths, network.other, threads, priority)
        for name, found in times.items():
            answers[name][f"ms {threads}"] = spread(found)
    return network.about | answers


def _files(path: Path) -> list[Path]:
    return [path, path.with_suffix(".bin")] if path.suffix == ".xml" else [path]


def _lost(found: list[np.ndarray], wanted: list[list[np.ndarray]]) -> dict[str, float]:
    """The metric `error`, with 95 % of resampled samples."""
    metric, rest, sums = METRICS["error"], iter(found), []
    for outputs_of_one in wanted:
        given = [next(rest).reshape(each.shape) for each in outputs_of_one]
        sums.append(metric.sums(given, Target(values=tuple(outputs_of_one))))
    lost = interval(metric, np.array(sums))
    return {"value": lost.value, "low": lost.low, "high": lost.high}


def main(argv: list[str] | None = None) -> int:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("names", nargs="*", help="all unless given")
    parser.add_argument(
        "--engines",
        nargs="*",
        default=[*OURS, *RIVALS],
        help="made anew; others are taken from --work",
    )
    parser.add_argument("--work", type=Path, default=ROOT / "build" / "auto_quantize")
    parser.add_argument("--rivals", help="the interpreter that has them")
    parser.add_argument("--no-rivals", action="store_true")
    parser.add_argument("--priority", type=int, default=0, help="of what is timed (Linux)")
    parser.add_argument("--note", default="", help="what the page says of the machine")
    parser.add_argument("--packages", type=Path, help="where packages of weights are, or go")
    parser.add_argument("--page", type=Path, help="write the page from all results")
    parser.add_argument("--results", type=Path, default=ROOT / "build" / "auto_quantize.jsonl")
    options = parser.parse_args(argv)
    packages = folder(options.packages)
    rivals = None if options.no_rivals else options.rivals or rivals_python()
    for each in [case(name) for name in options.names] or CASES:
        network = Network(each, packages, options.work / each.name)
        row = measured(network, rivals, options.engines, options.priority)
        append(options.results, row)
        print(page.table([row]), flush=True)
    rows = page.read(options.results)
    print(page.text(rows))
    if options.page:
        pages.write(options.page, page.text(rows, options.note))
    return 0


if __name__ == "__main__":
    sys.exit(main())
