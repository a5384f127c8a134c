# SPDX-License-Identifier: BSD-3-Clause
"""How far a long piece of work is, and when it will end."""

from __future__ import annotations

import sys
import time
from collections.abc import Callable, Iterable, Iterator
from typing import TextIO, TypeVar

T = TypeVar("T")

_FIRST = 3.0  # seconds: shorter work says nothing
_ON_A_TERMINAL, _ELSEWHERE = 0.5, 60.0  # seconds between two lines


def counted(
    items: Iterable[T],
    what: str,
    total: int,
    out: TextIO | None = None,
    clock: Callable[[], float] = time.monotonic,
) -> Iterator[T]:
    """The same items. Standard error shows how many are done and how long the rest will take: in one line of a
    terminal, elsewhere a line a minute; and how long all took."""
    out = out or sys.stderr
    is_terminal = out.isatty()
    head, tail = ("\r", "\x1b[K") if is_terminal else ("", "\n")
    start = clock()
    next_line, has_begun = start + _FIRST, False
    for done, item in enumerate(items):
        now = clock()
        if done and now >= next_line:
            left = (now - start) / done * (total - done)
            begin = "" if has_begun or not is_terminal else "\n"  # behind what stands in the line
            out.write(f"{begin}{head}{what}: {done} of {total}, about {_text(left)} left{tail}")
            out.flush()
            next_line, has_begun = now + (_ON_A_TERMINAL if is_terminal else _ELSEWHERE), True
        yield item
    if has_begun:
        out.write(f"{head}{what}: {total} in {_text(clock() - start)}{tail}")
        out.write("\n" if is_terminal else "")
        out.flush()


def _text(seconds: float) -> str:
    if seconds < 100:
        return f"{seconds:.0f} s"
    return f"{seconds / 60:.0f} min" if seconds < 6000 else f"{seconds / 3600:.1f} h"
