# SPDX-License-Identifier: BSD-3-Clause
"""What a long export is doing: each stage with its seconds and the process's memory, on a terminal or when asked."""

from __future__ import annotations

import logging
import resource
import sys
import time
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field
from pathlib import Path

from executorch.devtools.commands.output.page import page
from executorch.devtools.commands.output.report import Figure, Picture, Report, Row, Table
from executorch.devtools.commands.output.svg import Bar, lanes
from executorch.devtools.commands.output.words import sized, timed

logger = logging.getLogger("executorch.extension.llm.export")


def peak_bytes() -> int:
    """The most memory that this process has had resident."""
    peak = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss
    return peak if sys.platform == "darwin" else 1024 * peak


@dataclass
class Stage:
    name: str
    start: float
    seconds: float = 0.0
    cpu: float = 0.0  # seconds of all threads
    peak: int = 0


@dataclass
class Stages:
    """`say` prints; by default it does where standard error is a terminal."""

    # Of the moment, not of the import.
    say: bool = field(default_factory=lambda: sys.stderr.isatty())
    done: list[Stage] = field(default_factory=list)

    @contextmanager
    def stage(self, name: str) -> Iterator[None]:
        stage, cpu = Stage(name, time.perf_counter()), time.process_time()
        if self.say:
            print(f"[export_llm] {name:<28s}", end="", flush=True, file=sys.stderr)
        try:
            yield
        finally:
            stage.seconds, stage.peak = time.perf_counter() - stage.start, peak_bytes()
            stage.cpu = time.process_time() - cpu
            self.done.append(stage)
            if self.say:
                text = f"{stage.seconds:8.1f} s   peak {stage.peak / 1e6:8.0f} MB"
                print(text, flush=True, file=sys.stderr)
            logger.info("%s: %.1f s, peak %.0f MB", name, stage.seconds, stage.peak / 1e6)

    def write_html(self, path: str | Path) -> None:
        Path(path).write_text(page(self._report(), "export_llm"), encoding="utf-8")

    def _report(self) -> Report:
        """When each stage ran, as wide as its share of the time, and what it took."""
        start = self.done[0].start if self.done else 0.0
        whole = max((each.start + each.seconds - start for each in self.done), default=0.0)
        peak = max((each.peak for each in self.done), default=0)
        took, most = timed(1e3 * whole), sized(peak)
        title = "Stages of export_llm"
        rows: list[Row] = []
        bars = []
        for stage in self.done:
            begin = stage.start - start
            words = f"{stage.name}: {timed(1e3 * stage.seconds)}, peak {sized(stage.peak)}"
            bars.append(Bar("stages", begin, begin + stage.seconds, stage.name, words))
            rows.append(
                {
                    "stage": stage.name,
                    "ms": 1e3 * stage.seconds,
                    "share": f"{stage.seconds / (whole or 1):.1%}",
                    "of all threads ms": 1e3 * stage.cpu,
                    "peak bytes": stage.peak,
                }
            )
        longest = max(self.done, key=lambda each: each.seconds, default=None)
        verdict = f"It took {took} and at most {most} of memory."
        if longest is not None:
            verdict += f" The longest stage: {longest.name}, {timed(1e3 * longest.seconds)}."
        return Report(
            title,
            [verdict],
            [Table("stages", "What each stage took", rows, "ms")],
            [Picture("When each stage ran", lanes(title, bars, whole, took))] if bars else [],
            figures=[
                Figure("time", took),
                Figure("memory at most", most),
                Figure("stages", f"{len(self.done):,}"),
            ],
        )
