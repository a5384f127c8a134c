# SPDX-License-Identifier: BSD-3-Clause
"""What doctor says: findings, and the rows of their causes."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass, replace

from executorch.devtools.commands.output.report import Folded, Row
from executorch.devtools.commands.output.words import number_of

STOPS, BREAK, NUMBERS, SLOW, MEMORY = "stops", "break", "numbers", "slow", "memory"
TRUST = "trust"
_FIRST = (STOPS, NUMBERS)


@dataclass(frozen=True)
class Layer:
    """A part of the model that a finding is about. `name`: its module, or its call; `place`: method and instruction,
    by which its time is found."""

    name: str
    operator: str = ""
    line: str = ""
    place: tuple[str, int] | None = None
    seconds: float | None = None

    def row(self) -> Row:
        ms = None if self.seconds is None else 1e3 * self.seconds
        return {"layer": self.name, "operator": self.operator, "line": self.line, "ms": ms}


@dataclass(frozen=True)
class Finding:
    """`calls`: how many calls of the file it is about; `num_bytes`: what they write, or what is taken. `cause`: what it
    has in common with others, which one row then stands for; `what` unless it is given."""

    kind: str
    what: str
    why: str
    next_step: str
    calls: int = 0
    num_bytes: int = 0
    lines: tuple[str, ...] = ()
    cause: str = ""
    layers: tuple[Layer, ...] = ()

    @property
    def seconds(self) -> float | None:
        known = [each.seconds for each in self.layers if each.seconds is not None]
        return sum(known) if known else None

    def timed(self, seconds_at: Callable[[tuple[str, int]], float | None]) -> Finding:
        """With the times of its layers, where they are known."""
        layers = (
            each
            if each.place is None or each.seconds is not None
            else replace(each, seconds=seconds_at(each.place))
            for each in self.layers
        )
        return replace(self, layers=tuple(layers))


def rows_of_causes(findings: Iterable[Finding], whole: float | None = None) -> list[Row]:
    """A row a cause: what stops first, then wrong numbers, then what costs most time, then most bytes. `whole`: seconds
    of the execution that the findings were timed in; without it there are no columns of times."""
    groups: dict[tuple[str, str, str], list[Finding]] = {}
    for each in findings:
        groups.setdefault((each.kind, each.cause or each.what, each.next_step), []).append(each)
    listed = [sorted(group, key=_weight) for group in groups.values()]
    return [_row(group, whole) for group in sorted(listed, key=lambda group: _weight(*group))]


def _weight(*group: Finding) -> tuple[int, float, int]:
    """Sorts the heaviest first."""
    return (
        _FIRST.index(group[0].kind) if group[0].kind in _FIRST else len(_FIRST),
        -sum(each.seconds or 0.0 for each in group),
        -sum(each.num_bytes for each in group),
    )


def _row(group: Sequence[Finding], whole: float | None) -> Row:
    first = group[0]
    many, whys = len(group) > 1, {each.why for each in group}
    lines = [line for each in group for line in each.lines]
    layers = [layer for each in group for layer in each.layers]
    layers.sort(key=lambda layer: -(layer.seconds or 0.0))
    seconds = [each.seconds for each in group if each.seconds is not None]
    times = {
        "ms": 1e3 * sum(seconds) if seconds else None,
        "share": f"{sum(seconds) / whole:.1%}" if seconds and whole else "",
    }
    return {
        "kind": first.kind,
        "finding": f"{number_of(len(group), 'operator')} {first.cause}"
        if many and first.cause
        else first.what,
        **(times if whole else {}),
        "why": first.why if len(whys) == 1 else f"the first: {first.what}: {first.why}",
        "next step": first.next_step,
        "calls": sum(each.calls for each in group),
        "bytes": sum(each.num_bytes for each in group),
        "layers": Folded(layer.row() for layer in layers),
        "line": lines[0] if lines else "",
    }
