# SPDX-License-Identifier: BSD-3-Clause
"""How long a program takes: warm and cold, by number of threads, with its memory; two files are compared in turns.

Each file is loaded by processes of its own, with ones as inputs. Cold: a fresh process loads the program and runs it
once; the system may still have the file in memory. Warm: later runs. Of two files, each runs a little while the other
waits, so that what else the machine does hits both; the interval holds the ratio of their times with 95 %.

    python -m executorch.devtools bench before.pte after.pte --threads 1 2 --html bench.html
"""

from __future__ import annotations

import argparse
import json
import subprocess
import sys
from collections.abc import Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import numpy as np

from executorch.devtools.commands.program_file import ProgramFile
from executorch.devtools.commands.report import Picture, Report, Row, Table
from executorch.devtools.commands.svg import histogram, span
from executorch.exir import schema

_RESAMPLED = 2000
_SEED = 0
# Numbers are what the model was exported with: another one does not fit.
_VALUES = {
    schema.Int: "int_val",
    schema.Double: "double_val",
    schema.Bool: "bool_val",
    schema.String: "string_val",
}
_PERCENTILES = (50, 90, 99)


def add_arguments(parser: argparse.ArgumentParser) -> None:
    parser.add_argument("file", type=Path, help="a .pte file")
    parser.add_argument(
        "other", type=Path, nargs="?", help="another one, to compare with the first"
    )
    parser.add_argument("--method", default="", help="forward, or the first by name, unless given")
    parser.add_argument(
        "--threads", type=int, nargs="*", default=[0], help="0: as many as the runtime takes"
    )
    parser.add_argument("--rounds", type=int, default=20, help="turns of each file")
    parser.add_argument("--runs", type=int, default=5, help="runs in a turn")
    parser.add_argument(
        "--cold", type=int, default=3, help="fresh processes to measure cold starts with"
    )


@dataclass(frozen=True)
class Method:
    """`inputs`: JSON for bench_worker.py, ones of the largest sizes."""

    name: str
    inputs: str

    @staticmethod
    def of(file: Path, name: str) -> Method:
        """See ProgramFile.plan."""
        plan = ProgramFile(file).plan(name)
        return Method(
            plan.name, json.dumps([_ones(plan.values[index].val) for index in plan.inputs])
        )


def _ones(value: Any) -> Any:
    if isinstance(value, schema.Tensor):
        return [int(value.scalar_type), list(value.sizes)]
    field_name = _VALUES.get(type(value))
    return None if field_name is None else getattr(value, field_name)


class Worker:
    """A process of bench_worker.py. ValueError with its last words when it ends."""

    def __init__(self, file: Path, method: Method, threads: int) -> None:
        module = "executorch.devtools.commands.bench_worker"
        self._file = file
        self._process = subprocess.Popen(
            [sys.executable, "-m", module, str(file), method.name, str(threads), method.inputs],
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            stderr=subprocess.PIPE,
            text=True,
        )
        self.start = self._read()

    def run(self, count: int) -> Any:
        assert self._process.stdin is not None
        self._process.stdin.write(f"{count}\n")
        self._process.stdin.flush()
        return self._read()

    def _read(self) -> Any:
        assert self._process.stdout is not None and self._process.stderr is not None
        for line in self._process.stdout:
            if line.startswith("RESULT "):
                return json.loads(line.removeprefix("RESULT "))
        lines = self._process.stderr.read().strip().splitlines()
        raise ValueError(
            f"{self._file} does not run: {lines[-1] if lines else 'its process ended'}"
        )

    def close(self) -> None:
        self._process.communicate()


@dataclass
class Measured:
    """One file with one number of threads; `rounds`: nanoseconds of the runs of each turn."""

    file: Path
    threads: int
    starts: list[Any] = field(default_factory=list)
    rounds: list[list[int]] = field(default_factory=list)
    energy: list[int] = field(default_factory=list)

    def times(self) -> np.ndarray:
        """Of warm runs, in milliseconds."""
        return np.concatenate([np.asarray(each) for each in self.rounds]) / 1e6

    def row(self) -> Row:
        times = self.times()
        cold = [(each["load_ns"] + each["first_ns"]) / 1e6 for each in self.starts]
        row = {
            "file": self.file.name,
            "threads": self.threads or "default",
            **{f"p{percent} ms": float(np.percentile(times, percent)) for percent in _PERCENTILES},
            "min ms": float(times.min()),
            "cold load ms": float(np.median([each["load_ns"] / 1e6 for each in self.starts])),
            "cold load and run ms": float(np.median(cold)),
            "resident bytes": int(np.median([each["resident_bytes"] for each in self.starts])),
            "peak bytes": int(np.median([each["peak_bytes"] for each in self.starts])),
        }
        if self.energy:
            row["mJ per run"] = sum(self.energy) / 1e3 / times.size
        return row


def report(arguments: argparse.Namespace) -> Report:
    for name in ("rounds", "runs", "cold"):
        if getattr(arguments, name) < 1:
            raise ValueError(f"--{name}: expected at least 1, found {getattr(arguments, name)}")
    files = [arguments.file, *([arguments.other] if arguments.other else [])]
    methods = [Method.of(file, arguments.method) for file in files]
    all_measured: list[Measured] = []
    compared: list[Row] = []
    for threads in arguments.threads:
        measured = _measure(files, methods, threads, arguments)
        all_measured += measured
        if len(measured) == 2:
            compared.append(
                compare(measured[0].rounds, measured[1].rounds) | {"threads": threads or "default"}
            )
    sentences = [_comparison(row, arguments) for row in compared]
    sentences.append(
        f"{arguments.rounds} turns of {arguments.runs} runs, method {methods[0].name}; "
        "times are of calls from Python"
    )
    spans = [span(list(each.times())) for each in all_measured]
    limits = min(low for low, _ in spans), max(high for _, high in spans)  # one scale for all
    pictures = [
        Picture(
            f"{each.file.name}, threads: {each.threads or 'default'}",
            histogram(list(each.times()), "ms", limits),
        )
        for each in all_measured
    ]
    return Report(
        " and ".join(str(file) for file in files),
        sentences,
        [Table("files", "Times and memory", [each.row() for each in all_measured])],
        pictures,
        facts={"compared": compared},
    )


def _measure(
    files: Sequence[Path], methods: Sequence[Method], threads: int, arguments: argparse.Namespace
) -> list[Measured]:
    measured = [Measured(file, threads) for file in files]
    workers = []
    try:
        for _ in range(arguments.cold):
            for worker in workers:
                worker.close()
            workers = [
                Worker(file, method, threads) for file, method in zip(files, methods, strict=True)
            ]
            for each, worker in zip(measured, workers, strict=True):
                each.starts.append(worker.start)
        for worker in workers:  # the second run of a program may still prepare
            worker.run(2)
        for turn in range(arguments.rounds):
            for index in range(len(files)) if turn % 2 == 0 else reversed(range(len(files))):
                found = workers[index].run(arguments.runs)
                measured[index].rounds.append(found["ns"])
                if found["energy_uj"] is not None:
                    measured[index].energy.append(found["energy_uj"])
    finally:
        for worker in workers:
            worker.close()
    return measured


def compare(a: Sequence[Sequence[int]], b: Sequence[Sequence[int]]) -> dict[str, Any]:
    """The time of b by that of a: the geometric mean over turns of the ratio of medians, and the interval that holds
    it with 95 %, by resampling turns."""
    ratios = np.log(
        [np.median(after) / np.median(before) for before, after in zip(a, b, strict=True)]
    )
    generator = np.random.default_rng(_SEED)
    means = generator.choice(ratios, (_RESAMPLED, len(ratios))).mean(axis=1)
    low, high = np.exp(np.percentile(means, (2.5, 97.5)))
    return {
        "ratio": float(np.exp(ratios.mean())),
        "low": float(low),
        "high": float(high),
        "differs": bool(low > 1 or high < 1),
    }


def _comparison(row: dict[str, Any], arguments: argparse.Namespace) -> str:
    interval = f"[{row['low']:.3f}, {row['high']:.3f}]"
    said = f"{arguments.other.name} takes {row['ratio']:.3f} {interval} times as long as {arguments.file.name}"
    verdict = "" if row["differs"] else ": no difference is shown"
    return f"{said}, threads: {row['threads']}{verdict}"
