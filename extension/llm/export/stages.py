# SPDX-License-Identifier: BSD-3-Clause
"""What a long export is doing: each stage with its seconds and the process's memory, on a terminal or when asked."""

from __future__ import annotations

import html
import logging
import resource
import sys
import time
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field
from pathlib import Path

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
        """An icicle: one bar for the export, below it a bar for each stage, as wide as its share of the time."""
        start = self.done[0].start if self.done else 0.0
        end = max((s.start + s.seconds for s in self.done), default=1.0)
        whole = max(end - start, 1e-9)
        bars = []
        for number, stage in enumerate(self.done):
            left, width = (100 * x / whole for x in (stage.start - start, stage.seconds))
            label = html.escape(
                f"{stage.name}: {stage.seconds:.2f} s, peak {stage.peak / 1e6:.0f} MB"
            )
            color = f"hsl({number * 47 % 360} 60% 75%)"
            bars.append(
                f'<div class="bar" style="left:{left:.3f}%;width:{width:.3f}%;background:{color}" '
                f'title="{label}">{label}</div>'
            )
        style = (
            "body{font:13px sans-serif}.icicle{position:relative;height:3.4em}"
            ".bar{position:absolute;top:1.6em;height:1.5em;overflow:hidden;white-space:nowrap;border:1px solid #fff;"
            "box-sizing:border-box}.all{top:0;left:0;width:100%;background:#ddd}"
        )
        Path(path).write_text(
            f"<!doctype html><meta charset=utf-8><title>export_llm</title><style>{style}</style>"
            f'<div class="icicle"><div class="bar all">export_llm: {whole:.2f} s</div>{"".join(bars)}</div>\n'
        )
