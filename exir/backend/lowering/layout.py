# SPDX-License-Identifier: BSD-3-Clause
"""Where values are transposed, from the layouts in which rows take and give them.

before: conv wants and gives nhwc, add either, linear plain; %a = conv(%x); %b = add(%a, %y); %c = linear(%b)
after:  add in plain: %a is transposed once. In nhwc it would be %y and %b.

A row has a candidate for each layout that it can run in. A value exists in the layout in which it is given, and in
each that a reader wants: every further one costs its weight. `solve` starts with what is cheapest row by row. Then, one
layout after the other, it moves all rows to that layout whose joint switch lowers the cost: a minimum cut says which,
so that for two layouts nothing is cheaper than the result."""

from __future__ import annotations

from collections import deque
from collections.abc import Callable, Hashable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

Layout = str
Use = tuple[Hashable, Layout]  # of a value, in a layout

PLAIN: Layout = "plain"
NHWC: Layout = "nhwc"  # channels last, of any rank: NLC, NDHWC


def dims_in(layout: Layout, rank: int) -> list[int]:
    """The dimensions of a plain tensor in the order in which the layout has them."""
    return [0, *range(2, rank), 1] if layout == NHWC and rank > 2 else list(range(rank))


def in_layout(values: Sequence[Any], layout: Layout) -> list[Any]:
    """One for each dimension of a plain tensor, in the layout's order."""
    return [values[dim] for dim in dims_in(layout, len(values))]


def permutation(rank: int, before: Layout, after: Layout) -> list[int]:
    """That turns a tensor from one layout into the other."""
    there = dims_in(before, rank)
    return [there.index(dim) for dim in dims_in(after, rank)]


@dataclass(frozen=True)
class LayoutCandidate:
    """A layout in which a row can run. `wants`: the layout of each operand, None where any will do; `gives`: of its
    result; `cost`: what it costs beside."""

    wants: tuple[Layout | None, ...]
    gives: Layout | None = None
    cost: float = 0.0


Candidates = Mapping[Layout, LayoutCandidate]


def alike(operands: Sequence[Hashable], *layouts: Layout) -> dict[Layout, LayoutCandidate]:
    """Of a row that wants all operands in one of these, and gives its result so."""
    return {each: LayoutCandidate((each,) * len(operands), each) for each in layouts}


def plain(step: Any, operands: Sequence[Hashable]) -> Candidates:
    return alike(operands, PLAIN)


def channels_last(step: Any, operands: Sequence[Hashable]) -> Candidates:
    return alike(operands, NHWC)


@dataclass(frozen=True)
class Ports:
    """A row in its place: the values that it reads and writes, and its candidates by the layout around it; of equally
    cheap ones the first is taken."""

    reads: tuple[Hashable, ...]
    writes: Hashable | None
    candidates: Mapping[Layout, LayoutCandidate]

    def uses(self, layout: Layout) -> list[Use]:
        """The values of one of the candidates, each with the layout that it has there."""
        candidate = self.candidates[layout]
        pairs = [*zip(self.reads, candidate.wants, strict=True), (self.writes, candidate.gives)]
        return [(value, each) for value, each in pairs if value is not None and each is not None]


def solve(rows: Sequence[Ports], weight: Callable[[Hashable], float]) -> list[Layout]:
    """For each row, in the order in which they run, the layout of its candidate."""
    chosen = _row_by_row(rows, weight)
    layouts = list(dict.fromkeys(layout for row in rows for layout in row.candidates))
    least = cost(rows, chosen, weight)
    improved = len(layouts) > 1
    while improved:
        improved = False
        for layout in layouts:
            moved = _gone_over(rows, chosen, layout, weight)
            found = cost(rows, moved, weight)
            if found < least:
                chosen, least, improved = moved, found, len(layouts) > 2
    return chosen


def cost(
    rows: Sequence[Ports], chosen: Sequence[Layout], weight: Callable[[Hashable], float]
) -> float:
    """The weight of all transposes, and what the candidates cost beside."""
    pairs = zip(rows, chosen, strict=True)
    uses = {use for row, layout in pairs for use in row.uses(layout)}
    values = {value for value, _ in uses}
    beside = sum(row.candidates[layout].cost for row, layout in zip(rows, chosen, strict=True))
    return beside + sum(weight(value) for value, _ in uses) - sum(map(weight, values))


def _row_by_row(rows: Sequence[Ports], weight: Callable[[Hashable], float]) -> list[Layout]:
    """Each by the candidate that costs least with what is there by then."""
    there: set[Use] = set()
    chosen = []
    for row in rows:

        def added(layout: Layout, row: Ports = row) -> float:
            missing = [use for use in row.uses(layout) if use not in there and use[0] in row.reads]
            return row.candidates[layout].cost + sum(weight(value) for value, _ in set(missing))

        chosen.append(min(row.candidates, key=added))
        there.update(row.uses(chosen[-1]))
    return chosen


# ---- Going over to a layout ----

_SOURCE, _SINK = "source", "sink"
_ALWAYS = float("inf")


def _gone_over(
    rows: Sequence[Ports],
    chosen: Sequence[Layout],
    layout: Layout,
    weight: Callable[[Hashable], float],
) -> list[Layout]:
    """Rows that are on the source's side of the cut run in `layout`, others stay."""
    network = Network()
    stay: set[Use] = set()
    left: set[Use] = set()
    come: set[Use] = set()
    for place, (row, now) in enumerate(zip(rows, chosen, strict=True)):
        before = set(row.uses(now))
        if not _may_go_over(row, now, layout):
            stay |= before
            continue
        after = set(row.uses(layout))
        stay |= before & after
        network.add(_SOURCE, place, row.candidates[now].cost)
        network.add(place, _SINK, row.candidates[layout].cost)
        left |= before - after
        come |= after - before
        for use in before - after:
            network.add(("left", use), place, _ALWAYS)
        for use in after - before:
            network.add(place, ("come", use), _ALWAYS)
    for use in left - stay:  # paid for while one of its rows stays
        network.add(_SOURCE, ("left", use), weight(use[0]))
    for use in come - stay:  # paid for as soon as one of its rows goes over
        network.add(("come", use), _SINK, weight(use[0]))
    over = network.cut(_SOURCE, _SINK)
    return [layout if place in over else now for place, now in enumerate(chosen)]


def _may_go_over(row: Ports, now: Layout, layout: Layout) -> bool:
    """Whether all that it would read and write otherwise would then have the layout; what a cut can decide."""
    if layout not in row.candidates or layout == now:
        return False
    return all(each == layout for _, each in set(row.uses(layout)) - set(row.uses(now)))


class Network:
    """Capacities between vertices, and the least cut that parts two of them (Edmonds and Karp)."""

    def __init__(self) -> None:
        self._room: dict[Hashable, dict[Hashable, float]] = {}

    def add(self, start: Hashable, end: Hashable, capacity: float) -> None:
        self._room.setdefault(start, {})
        self._room.setdefault(end, {}).setdefault(start, 0.0)
        self._room[start][end] = self._room[start].get(end, 0.0) + capacity

    def cut(self, source: Hashable, sink: Hashable) -> set[Hashable]:
        """The vertices on the side of `source`: as few as can be."""
        while True:
            came_from = self._reached(source, sink)
            if sink not in came_from:
                return set(came_from)
            path, end = [], sink
            while end != source:
                path.append((came_from[end], end))
                end = came_from[end]
            least = min(self._room[start][end] for start, end in path)
            for start, end in path:
                self._room[start][end] -= least
                self._room[end][start] += least

    def _reached(self, source: Hashable, sink: Hashable) -> dict[Hashable, Hashable]:
        """With the vertex before, as far as there is room; no further than `sink`."""
        came_from: dict[Hashable, Hashable] = {source: source}
        waiting = deque([source])
        while waiting and sink not in came_from:
            start = waiting.popleft()
            for end, room in self._room.get(start, {}).items():
                if room > 0 and end not in came_from:
                    came_from[end] = start
                    waiting.append(end)
        return came_from
