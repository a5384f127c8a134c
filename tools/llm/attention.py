# SPDX-License-Identifier: BSD-3-Clause
"""Attention on caches over eager's time, by tools.bench.attention: a row for each number of threads and each length."""

from __future__ import annotations

import subprocess
import sys
from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import Any

Row = dict[str, Any]


def ratios(_folder: Path, only: str = "") -> Iterator[Row]:
    command = [sys.executable, "-m", "tools.bench.attention", "--only", only]
    # it ends with 1 where a limit is not held
    done = subprocess.run(command, stdout=subprocess.PIPE, text=True, check=False)
    yield from rows_of(done.stdout.splitlines())


def rows_of(lines: Sequence[str]) -> Iterator[Row]:
    """Of what the benchmark prints: "decode 128, 9/3 heads of 64   19.7   12.2   12.0   0.62"."""
    found: dict[str, list[float]] = {}
    threads = ""
    for line in lines:
        if " threads: " in line:
            threads = line.split()[0]
        elif " heads of " in line:
            name = f"{line.split(',')[0]}, {threads} thread{'s' * (threads != '1')}"
            found.setdefault(name, []).append(float(line.split()[-1]))
    for name, measured in found.items():
        yield {"table": "attention", "row": name, "ratios": measured}
