# SPDX-License-Identifier: BSD-3-Clause
"""Numbers as people read them: with a noun, with a unit."""

from __future__ import annotations

_OF_TIME = (("s", 1e3), ("ms", 1.0), ("µs", 1e-3), ("ns", 1e-6))  # milliseconds
_OF_SIZE = (("TB", 1e12), ("GB", 1e9), ("MB", 1e6), ("kB", 1e3))
_ROUNDS_UP = 0.9995  # 999.6 ms are 1 s


def number_of(count: int, noun: str, plural: str = "") -> str:
    """1 call, 2 calls, 1,234 calls."""
    return f"{count:,} {noun if count == 1 else plural or noun + 's'}"


def is_or_are(count: int) -> str:
    return "is" if count == 1 else "are"


def timed(ms: float) -> str:
    """From milliseconds: 1.50 s, 20.0 ms, 3.10 µs."""
    unit, size = next((each for each in _OF_TIME if abs(ms) >= each[1] * _ROUNDS_UP), _OF_TIME[-1])
    return f"{_digits(ms / size)} {unit}" if ms else "0 ms"


def sized(num_bytes: float) -> str:
    """1 byte, 999 bytes, 1.50 kB, 2.00 MB, in thousands."""
    for unit, size in _OF_SIZE:
        if abs(num_bytes) >= size * _ROUNDS_UP:
            return f"{_digits(num_bytes / size)} {unit}"
    return number_of(round(num_bytes), "byte")


OF_UNIT = {"ms": timed, "bytes": sized}


def _digits(number: float) -> str:
    """Three of them."""
    return f"{number:,.{2 if abs(number) < 9.995 else 1 if abs(number) < 99.95 else 0}f}"
