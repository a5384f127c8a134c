# SPDX-License-Identifier: BSD-3-Clause
"""Pictures for reports, as SVG that takes its colours from the page. They are as wide as the page and of a fixed
height: places across are shares of the width, so that letters keep their size on a phone; what stands at their ends is
text below them."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from html import escape

from executorch.devtools.commands.output.words import number_of

_HEIGHT, _LANE, _MAP, _TITLE = 140, 34, 240, 20  # pixels
_NARROW, _WIDE = (
    340,
    640,
)  # of pages: where names of parts are shown at all, and where those of narrow parts are
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
    name: str, values: Sequence[float], unit: str, limits: tuple[float, float], bins: int = 60
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
    tallest = max(counts) or 1
    bars = _bars([count / tallest for count in counts])
    ends = (
        f"{low:.4g} {unit}",
        f"at most {tallest} of {len(values)} in a bar",
        f"{high:.4g} {unit}" + (f", {beyond} beyond" if beyond else ""),
    )
    return _figure(f"{name}: {number_of(len(values), 'value')}", bars, ends)


def steps(name: str, values: Sequence[float], first: str, last: str, marked: int) -> str:
    """One bar for each step, the one of index `marked` in another colour."""
    highest = max(values, default=0) or 1
    bars = _bars([value / highest for value in values], marked)
    return _figure(name, bars, (first, last))


def lanes(name: str, bars: Sequence[Bar], whole: float, last: str) -> str:
    """What happened when, from 0 to `whole`."""
    names = list(dict.fromkeys(bar.lane for bar in bars))
    across = 100 / (whole or 1.0)
    tops = {lane: index * (_LANE + _TITLE) + _TITLE for index, lane in enumerate(names)}
    drawn = "".join(
        _named(
            bar.start * across,
            tops[bar.lane],
            (bar.end - bar.start) * across,
            _LANE,
            bar,
        )
        for bar in bars
    )
    titles = "".join(text(0, top - 5, lane) for lane, top in tops.items())
    height = len(names) * (_LANE + _TITLE)
    return _figure(f"{name}: {number_of(len(bars), 'part')}", drawn + titles, ("0", last), height)


def layout(
    name: str, boxes: Sequence[Box], columns: int, num_bytes: int, first: str, last: str
) -> str:
    """Who has which bytes when: across, columns; up, bytes."""
    across, up = 100 / max(1, columns), _MAP / max(1, num_bytes)
    drawn = "".join(
        _named(
            box.first * across,
            _MAP - box.high * up,
            (box.last - box.first + 1) * across,
            (box.high - box.low) * up,
            box,
        )
        for box in boxes
    )
    frame = f'<rect class="frame" x="0" y="0" width="100%" height="{_MAP}"/>'
    label = f"{name}: {number_of(len(boxes), 'tensor')}"
    return _figure(label, frame + drawn, (first, last), _MAP)


def _bars(shares: Sequence[float], marked: int | None = None) -> str:
    """As high as their shares, beside each other."""
    wide = 100 / max(1, len(shares))
    return "".join(
        f'<rect{" class=marked" if index == marked else ""} x="{index * wide:.2f}%" y="{_HEIGHT - tall:.1f}" '
        f'width="{wide * (0.92 if len(shares) > 1 else 1):.2f}%" height="{tall:.1f}"/>'
        for index, share in enumerate(shares)
        for tall in [share * _HEIGHT]
    )


def _named(x: float, y: float, wide: float, tall: float, what: Bar | Box) -> str:
    """The name is there where it fits, and on a page that is wide enough for it."""
    needed = _LETTER * len(what.name)
    is_shown = tall >= _LINE and wide / 100 * _WIDE >= needed
    kind = "" if wide / 100 * _NARROW >= needed else ' class="if-wide"'
    name = text(x + wide / 2, y + tall / 2 + 4, what.name, "middle", kind) if is_shown else ""
    return (
        f'<g><title>{escape(what.words)}</title><rect class="{"part marked" if what.is_marked else "part"}" '
        f'x="{x:.2f}%" y="{y:.2f}" width="{wide:.2f}%" height="{tall:.2f}"/>{name}</g>'
    )


def text(x: float, y: float, words: str, anchor: str = "start", kind: str = "") -> str:
    return f'<text{kind} x="{x:.2f}%" y="{y:.1f}" text-anchor="{anchor}">{escape(words)}</text>'


def _figure(name: str, content: str, ends: Sequence[str], height: float = _HEIGHT) -> str:
    """Read aloud as its name and what stands at its ends; tables of the page have the numbers."""
    below = "".join(f"<span>{escape(each)}</span>" for each in ends)
    label = escape(f"{name}; {', '.join(ends)}")
    return (
        f'<figure class="picture"><svg width="100%" height="{height:.0f}" role="img" aria-label="{label}">'
        f"{content}</svg>"
        f'<figcaption aria-hidden="true">{below}</figcaption></figure>'
    )
