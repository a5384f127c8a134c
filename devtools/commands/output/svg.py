# SPDX-License-Identifier: BSD-3-Clause
"""Pictures for reports, as SVG that takes its colours from the page."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from html import escape

_WIDTH, _HEIGHT, _LEFT, _BOTTOM = 720, 160, 10, 20
_PLAIN, _MARKED = "#4a7dcf", "#d9822b"
_LANE, _MAP = 34, 260  # heights
_LEAST = 0.4  # of a box that is still to be seen
_LETTER, _LINE = 6.5, 13  # of text


@dataclass(frozen=True)
class Bar:
    """From `start` to `end` in a lane; `name` is written into it where there is room, `words` show where the pointer
    is."""

    lane: str
    start: float
    end: float
    name: str
    words: str
    is_marked: bool = False


@dataclass(frozen=True)
class Box:
    """Columns `first` to `last`, bytes `low` to `high`; `name` is written into it where there is room."""

    first: int
    last: int
    low: int
    high: int
    name: str
    words: str
    is_marked: bool = False


def span(values: Sequence[float]) -> tuple[float, float]:
    """From the least to what 99 % of them do not exceed."""
    listed = sorted(values)
    return listed[0], listed[min(len(listed) - 1, int(0.99 * len(listed)))]


def histogram(
    values: Sequence[float], unit: str, limits: tuple[float, float], bins: int = 60
) -> str:
    """How often values fall where between the limits; what is above is left out to the right and counted."""
    low, high = limits
    step = (high - low) / bins or 1.0
    counts = [0] * bins
    beyond = 0
    for value in values:
        place = int((value - low) / step)
        if value > high:
            beyond += 1
        else:
            counts[min(place, bins - 1)] += 1
    wide = (_WIDTH - 2 * _LEFT) / bins
    tallest = max(counts) or 1
    bars = "".join(
        f'<rect x="{_LEFT + index * wide:.1f}" y="{_HEIGHT - _BOTTOM - tall:.1f}" width="{wide * 0.9:.1f}" '
        f'height="{tall:.1f}"/>'
        for index, count in enumerate(counts)
        for tall in [count / tallest * (_HEIGHT - 2 * _BOTTOM)]
    )
    right = f"{high:.4g} {unit}" + (f", {beyond} beyond" if beyond else "")
    return _svg(
        f'<g fill="{_PLAIN}">{bars}</g>'
        + text(_LEFT, _HEIGHT - 4, f"{low:.4g} {unit}")
        + text(_WIDTH / 2, _HEIGHT - 4, f"at most {tallest} of {len(values)} in a bar", "middle")
        + text(_WIDTH - _LEFT, _HEIGHT - 4, right, "end")
    )


def steps(values: Sequence[float], first: str, last: str, marked: int) -> str:
    """One bar for each step, the one of index `marked` in another colour."""
    wide = (_WIDTH - 2 * _LEFT) / max(1, len(values))
    highest = max(values, default=0) or 1
    bars = "".join(
        f'<rect x="{_LEFT + index * wide:.2f}" y="{_HEIGHT - _BOTTOM - tall:.1f}" width="{wide * 0.95:.2f}" '
        f'height="{tall:.1f}" fill="{_MARKED if index == marked else _PLAIN}"/>'
        for index, value in enumerate(values)
        for tall in [value / highest * (_HEIGHT - 2 * _BOTTOM)]
    )
    return _svg(
        bars + text(_LEFT, _HEIGHT - 4, first) + text(_WIDTH - _LEFT, _HEIGHT - 4, last, "end")
    )


def lanes(bars: Sequence[Bar], whole: float, last: str) -> str:
    """What happened when, from 0 to `whole`."""
    names = list(dict.fromkeys(bar.lane for bar in bars))
    across = (_WIDTH - 2 * _LEFT) / (whole or 1.0)
    tops = {name: index * (_LANE + _BOTTOM) + _BOTTOM for index, name in enumerate(names)}
    drawn = "".join(
        _named(
            _LEFT + bar.start * across,
            tops[bar.lane],
            (bar.end - bar.start) * across,
            _LANE,
            bar,
        )
        for bar in bars
    )
    titles = "".join(text(_LEFT, top - 5, name) for name, top in tops.items())
    height = len(names) * (_LANE + _BOTTOM) + _BOTTOM
    ends = text(_LEFT, height - 4, "0") + text(_WIDTH - _LEFT, height - 4, last, "end")
    return _svg(drawn + titles + ends, height)


def layout(boxes: Iterable[Box], columns: int, num_bytes: int, first: str, last: str) -> str:
    """Who has which bytes when: across, columns; up, bytes."""
    across = (_WIDTH - 2 * _LEFT) / max(1, columns)
    up = (_MAP - 2 * _BOTTOM) / max(1, num_bytes)
    drawn = "".join(
        _named(
            _LEFT + box.first * across,
            _MAP - _BOTTOM - box.high * up,
            (box.last - box.first + 1) * across,
            (box.high - box.low) * up,
            box,
        )
        for box in boxes
    )
    frame = (
        f'<rect x="{_LEFT}" y="{_BOTTOM}" width="{_WIDTH - 2 * _LEFT}" height="{_MAP - 2 * _BOTTOM}" '
        'fill="none" stroke="currentColor" stroke-opacity=".3"/>'
    )
    ends = text(_LEFT, _MAP - 4, first) + text(_WIDTH - _LEFT, _MAP - 4, last, "end")
    return _svg(frame + drawn + ends, _MAP)


def _named(x: float, y: float, wide: float, tall: float, what: Bar | Box) -> str:
    fits = tall >= _LINE and wide >= _LETTER * len(what.name)
    name = text(x + wide / 2, y + tall / 2 + 4, what.name, "middle") if fits else ""
    return (
        f'<g><title>{escape(what.words)}</title><rect x="{x:.2f}" y="{y:.2f}" width="{max(wide, _LEAST):.2f}" '
        f'height="{max(tall, _LEAST):.2f}" fill="{_MARKED if what.is_marked else _PLAIN}" fill-opacity=".75" '
        f'stroke="currentColor" stroke-opacity=".25" stroke-width=".5"/>{name}</g>'
    )


def text(x: float, y: float, words: str, anchor: str = "start") -> str:
    return f'<text x="{x:.1f}" y="{y:.1f}" text-anchor="{anchor}">{escape(words)}</text>'


def _svg(content: str, height: float = _HEIGHT) -> str:
    return f'<svg viewBox="0 0 {_WIDTH} {height:.0f}" width="{_WIDTH}" role="img">{content}</svg>'
