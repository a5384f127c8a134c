# SPDX-License-Identifier: BSD-3-Clause
"""Pictures for reports, as SVG that takes its colours from the page."""

from __future__ import annotations

from collections.abc import Sequence
from html import escape

_WIDTH, _HEIGHT, _LEFT, _BOTTOM = 720, 160, 10, 20


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
        f'<g fill="#4a7dcf">{bars}</g>'
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
        f'height="{tall:.1f}" fill="{"#d9822b" if index == marked else "#4a7dcf"}"/>'
        for index, value in enumerate(values)
        for tall in [value / highest * (_HEIGHT - 2 * _BOTTOM)]
    )
    return _svg(
        bars + text(_LEFT, _HEIGHT - 4, first) + text(_WIDTH - _LEFT, _HEIGHT - 4, last, "end")
    )


def text(x: float, y: float, words: str, anchor: str = "start") -> str:
    return f'<text x="{x:.1f}" y="{y:.1f}" text-anchor="{anchor}">{escape(words)}</text>'


def _svg(content: str, height: float = _HEIGHT) -> str:
    return f'<svg viewBox="0 0 {_WIDTH} {height:.0f}" width="{_WIDTH}" role="img">{content}</svg>'
