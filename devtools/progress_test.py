# SPDX-License-Identifier: BSD-3-Clause
"""What a terminal, and what a log is told of long work."""

from __future__ import annotations

import io
from collections.abc import Callable, Iterator

from executorch.devtools.progress import counted


class Terminal(io.StringIO):
    def isatty(self) -> bool:
        return True


def ticking(seconds: float) -> Callable[[], float]:
    """A clock that is asked once before the work and once for each item."""
    times = iter(range(10_000))
    return lambda: seconds * next(times)


def message(out: io.StringIO, seconds: float, count: int) -> str:
    def items() -> Iterator[int]:
        yield from range(count)

    assert list(counted(items(), "matrices", count, out, ticking(seconds))) == list(range(count))
    return out.getvalue()


def test_a_terminal_has_one_line() -> None:
    """The first item is handed on at 2 s, so that one is done at 4 s, two at 6 s."""
    assert message(Terminal(), 2.0, 3) == (
        "\n\rmatrices: 1 of 3, about 8 s left\x1b[K\rmatrices: 2 of 3, about 3 s left\x1b[K\rmatrices: 3 in 8 s\x1b[K\n"
    )


def test_a_log_has_a_line_a_minute() -> None:
    lines = message(io.StringIO(), 25.0, 9).splitlines()
    assert lines == [
        "matrices: 1 of 9, about 7 min left",
        "matrices: 4 of 9, about 3 min left",
        "matrices: 7 of 9, about 57 s left",
        "matrices: 9 in 4 min",
    ]


def test_short_work_says_nothing() -> None:
    assert message(Terminal(), 0.2, 9) == message(io.StringIO(), 0.2, 9) == ""
