# SPDX-License-Identifier: BSD-3-Clause
"""How long a program takes: what `bench` measures, and the report of it."""

from __future__ import annotations

import argparse
import json
import subprocess
import sys
import tempfile
from collections.abc import Sequence
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np

from executorch.devtools.commands import bench_worker
from executorch.devtools.commands.inputs.used import Used, sentence, used_inputs
from executorch.devtools.commands.output.report import Figure, Picture, Report, Row, Table
from executorch.devtools.commands.output.svg import histogram, span
from executorch.devtools.commands.output.words import number_of, sized, timed
from executorch.devtools.commands.program_file import ProgramFile
from executorch.devtools.commands.times import Execution, execution
from executorch.devtools.costs.timing import traced
from executorch.devtools.devices import LOCAL, opened
from executorch.devtools.devices.job import Device, Job, ProgramError
from executorch.devtools.progress import counted

if TYPE_CHECKING:
    from executorch.exir.program._etrecord import ETRecord

_RESAMPLED = 2000
_SEED = 0
_PERCENTILES = (50, 90, 99)


@dataclass(frozen=True)
class Side:
    """What runs in turns with another. `arrays`: a file with the tensors among its inputs, for bench_worker.py."""

    file: ProgramFile
    method: str
    inputs: Sequence[Used]
    arrays: Path
    data: Path | None
    python: str = sys.executable

    @staticmethod
    def of(
        path: Path, options: argparse.Namespace, arrays: Path, python: str | None = None
    ) -> Side:
        """See ProgramFile.plan. ValueError, with the file, for inputs that it does not take."""
        file = ProgramFile(path)
        plan = file.plan(options.method)
        try:
            inputs = used_inputs(plan, options)
        except ValueError as problem:
            raise ValueError(f"{path}: {problem}") from problem
        bench_worker.keep(arrays, [each.value for each in inputs])
        return Side(file, plan.name, inputs, arrays, options.data, python or sys.executable)

    @property
    def title(self) -> str:
        name = self.file.path.name
        return name if self.python == sys.executable else f"{name} by {self.python}"


class Worker:
    """A process of bench_worker.py here. ValueError with its last words when it ends."""

    def __init__(self, side: Side, threads: int) -> None:
        self._side = side
        program = Path(bench_worker.__file__).read_text()  # another build may not have it
        file, arrays = str(side.file.path), str(side.arrays)
        data = [str(side.data)] if side.data else []
        self._process = subprocess.Popen(
            [side.python, "-c", program, file, side.method, str(threads), arrays, *data],
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
            f"{self._side.title} does not run: {lines[-1] if lines else 'its process ended'}"
        )

    def close(self) -> None:
        self._process.communicate()


class Distant:
    """The same over a wire: a process of its own for the first run, and for each turn, whose first run warms it."""

    def __init__(self, side: Side, threads: int, device: Device) -> None:
        self._device = device
        inputs = [each.value for each in side.inputs]
        self._job = Job(
            side.file.path, side.method, inputs, side.data, threads=threads, returns=False
        )
        ran = device.run(self._job)
        if not ran.run_ns:
            raise ValueError(f"{device.name} measures no times")
        self.start = {
            "load_ns": ran.load_ns,
            "first_ns": ran.run_ns[0],
            "resident_bytes": ran.resident_bytes,
            "peak_bytes": ran.peak_bytes,
            "version": device.describe().version,
        }

    def run(self, count: int) -> Any:
        ran = self._device.run(replace(self._job, runs=count + 1))
        return {"ns": ran.run_ns[1:], "energy_uj": None}

    def close(self) -> None:
        pass


def _worker(side: Side, threads: int, device: Device) -> Worker | Distant:
    return Worker(side, threads) if device.is_here else Distant(side, threads, device)


@dataclass
class Measured:
    """One side with one number of threads; `rounds`: nanoseconds of the runs of each turn."""

    side: Side
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
            "file": self.side.file.path.name,
            "build": self.starts[0]["version"],
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
    if arguments.python and arguments.device != LOCAL:
        raise ValueError("--python: expected no --device: an interpreter is of this machine")
    with tempfile.TemporaryDirectory() as folder:
        sides = _sides(arguments, Path(folder))
        try:
            with opened(arguments) as device:
                return _report(sides, arguments, device)
        except ProgramError as problem:
            raise ValueError(str(problem)) from problem


def _sides(arguments: argparse.Namespace, folder: Path) -> list[Side]:
    sides = [Side.of(arguments.file, arguments, folder / "arrays.npz")]
    if arguments.other or arguments.python:
        other = arguments.other or arguments.file
        sides.append(Side.of(other, arguments, folder / "others.npz", arguments.python))
    return sides


def _report(sides: Sequence[Side], arguments: argparse.Namespace, device: Device) -> Report:
    all_measured: list[Measured] = []
    compared: list[Row] = []
    for threads in arguments.threads:
        measured = _measure(sides, threads, arguments, device)
        all_measured += measured
        if len(measured) == 2:
            compared.append(
                compare(measured[0].rounds, measured[1].rounds) | {"threads": threads or "default"}
            )
    rows = [each.row() for each in all_measured]
    sentences = [_comparison(row, sides) for row in compared] or [_alone(rows[0])]
    whose = "of calls from Python" if device.is_here else f"of {device.title}, {device.describe()}"
    sentences.append(
        f"{number_of(arguments.rounds, 'turn')} of {number_of(arguments.runs, 'run')}, method {sides[0].method}; "
        f"times are {whose}"
    )
    sentences.append(sentence(sides[0].inputs))
    if [str(each) for each in sides[0].inputs] != [str(each) for each in sides[-1].inputs]:
        sentences.append(f"{sides[-1].title}: {sentence(sides[-1].inputs)}")
    spans = [span(list(each.times())) for each in all_measured]
    limits = min(low for low, _ in spans), max(high for _, high in spans)  # one scale for all
    pictures = [
        Picture(title, histogram(title, list(each.times()), "ms", limits))
        for each in all_measured
        for title in [f"{each.side.title}, threads: {each.threads or 'default'}"]
    ]
    tables = [Table("files", "Times and memory", rows)]
    record = _record(arguments.etrecord) if arguments.etrecord else None
    for prefix, side in zip(("", "other "), sides):
        if side.python == sys.executable:
            if not device.describe().has_events:
                sentences.append("Times of operators are left out: the runner records no events.")
                break
            ran = _traced(side, None if prefix else record, device)
            pictures.append(ran.picture(f" of {side.title}"))
            tables += ran.tables(prefix, f" of {side.title}")
    title = " and ".join(side.title for side in sides)
    facts = {"inputs": [each.row() for each in sides[0].inputs], "compared": compared}
    facts["device"] = device.title
    return Report(title, sentences, tables, pictures, facts, figures=_figures(rows, compared))


def _figures(rows: Sequence[Row], compared: Sequence[Row]) -> list[Figure]:
    """Of the first file with the first number of threads, and how the other compares."""
    first = rows[0]
    figures = [
        Figure(f"half of the runs of {first['file']} take at most", timed(first["p50 ms"])),
        Figure("loading and the first run", timed(first["cold load and run ms"])),
    ]
    if compared:
        return [*figures, Figure(f"time of {rows[1]['file']}", f"{compared[0]['ratio']:.1%}")]
    return [*figures, Figure("memory at most", sized(first["peak bytes"]))]


def _record(path: Path) -> ETRecord:
    from executorch.devtools.commands import given

    return given.record(path)


def _traced(side: Side, record: ETRecord | None, device: Device) -> Execution:
    known, origins = None, None
    if record is not None:
        from executorch.devtools.commands.origins import Origins
        from executorch.devtools.inspector._graphs import of_method

        known = of_method(record, side.method)
        origins = Origins(known)
    inputs = [each.value for each in side.inputs]
    job = Job(side.file.data, side.method, inputs, side.data)
    events = traced(job, known, device)
    return execution(side.file, side.method, events, origins)


def _measure(
    sides: Sequence[Side], threads: int, arguments: argparse.Namespace, device: Device
) -> list[Measured]:
    measured = [Measured(side, threads) for side in sides]
    workers: list[Worker | Distant] = []
    try:
        for _ in range(arguments.cold):
            for worker in workers:
                worker.close()
            workers = [_worker(side, threads, device) for side in sides]
            for each, worker in zip(measured, workers, strict=True):
                each.starts.append(worker.start)
        for worker in workers:  # the second run of a program may still prepare
            worker.run(2)
        for turn in counted(range(arguments.rounds), "turns", arguments.rounds):
            for index in range(len(sides)) if turn % 2 == 0 else reversed(range(len(sides))):
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


def _alone(row: Row) -> str:
    half, most = timed(row["p50 ms"]), timed(row["p99 ms"])
    return f"Half of the runs take at most {half}, 99 of 100 at most {most}, threads: {row['threads']}."


def _comparison(row: dict[str, Any], sides: Sequence[Side]) -> str:
    interval = f"[{row['low']:.3f}, {row['high']:.3f}]"
    message = (
        f"{sides[1].title} takes {row['ratio']:.3f} {interval} times as long as {sides[0].title}"
    )
    verdict = "" if row["differs"] else ": no difference is shown"
    return f"{message}, threads: {row['threads']}{verdict}"
