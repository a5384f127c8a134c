# SPDX-License-Identifier: BSD-3-Clause
"""The ratios as a picture: a line a network, a dot a ratio, on a logarithmic scale."""

from __future__ import annotations

import math
from html import escape

from executorch.tools.bench.suite.ratios import PAIRS, by_worst, ratio
from executorch.tools.bench.suite.results import Row

STEP, LEFT, WIDTH, TOP = 14, 150, 640, 46
TICKS = (0.25, 0.5, 1.0, 2.0, 4.0)
COLOURS = dict(zip((label for label, *_ in PAIRS), ("#c22", "#26c", "#2a2", "#999")))


def _x(value: float) -> float:
    inside = min(max(value, TICKS[0]), TICKS[-1])
    span = math.log(TICKS[-1] / TICKS[0])
    return LEFT + (WIDTH - LEFT - 10) * math.log(inside / TICKS[0]) / span


def words(x: float, y: float, message: str, **more: str) -> str:
    attributes = "".join(f' {name.replace("_", "-")}="{value}"' for name, value in more.items())
    return f'<text x="{x:.0f}" y="{y:.0f}"{attributes}>{escape(message)}</text>'


def document(width: int, height: int, parts: list[str], font_size: int = 10) -> str:
    """A picture of `parts` on white."""
    head = (
        f'<svg xmlns="http://www.w3.org/2000/svg" width="{width}" height="{height}" '
        f'font-family="sans-serif" font-size="{font_size}">'
    )
    ground = f'<rect width="{width}" height="{height}" fill="white"/>'
    return "\n".join([head, ground, *parts, "</svg>", ""])


def legend(colours: dict[str, str], left: int, step: int) -> list[str]:
    every = enumerate(colours.items())
    return [words(left + step * i, 14, label, fill=colour) for i, (label, colour) in every]


def svg(rows: list[Row]) -> str:
    """Dots beyond the scale stand at its ends."""
    height = TOP + STEP * len(rows) + 10
    parts = legend(COLOURS, LEFT, 120)
    for tick in TICKS:
        x = _x(tick)
        line = f'x1="{x:.0f}" y1="{TOP - 8}" x2="{x:.0f}" y2="{height - 10}"'
        parts.append(f'<line {line} stroke="{"#000" if tick == 1.0 else "#ccc"}"/>')
        parts.append(words(x, TOP - 14, f"{tick:g}", text_anchor="middle"))
    for number, row in enumerate(by_worst(rows)):
        y = TOP + STEP * number + 6
        parts.append(words(LEFT - 8, y + 3, row["name"], text_anchor="end"))
        for label, above, below in PAIRS:
            if value := ratio(row, above, *below):
                dot = f'cx="{_x(value):.1f}" cy="{y}" r="4" fill="{COLOURS[label]}"'
                parts.append(f"<circle {dot}><title>{label} {value:.2f}</title></circle>")
    return document(WIDTH, height, parts)
