# SPDX-License-Identifier: BSD-3-Clause
"""What an execution of a method took: when each operator ran, and the time by operator, by kind and by module."""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING

from executorch.devtools.commands.output.report import Picture, Row, Table
from executorch.devtools.commands.output.svg import Bar, lanes
from executorch.devtools.commands.output.words import timed
from executorch.devtools.commands.program_file import ProgramFile
from executorch.devtools.costs.machine import KERNELS
from executorch.devtools.costs.timing import KERNEL, is_operator

if TYPE_CHECKING:
    from executorch.devtools.commands.origins import Origin, Origins
    from executorch.devtools.inspector._events import Event

THE_MODEL = "(the model)"  # the name of the module around all others
_TICKS = 1e9  # a second of this machine's clock, as the runtime reads it
_METHOD, _DELEGATE = "Method::execute", "DELEGATE_CALL"
_OUTER, _INNER = "calls", "inside of delegates"
_NUMBERED = re.compile(r" #\d+( \[\d+\])?$")  # place and handle of a delegate's operator
_LEAST_SHARE = 0.01  # of a module that has a row


@dataclass(frozen=True)
class Span:
    """An operator, or the call of a delegate, in the fastest of the executions; seconds from the method's beginning.
    `engine`: the backend that it is a part of, or KERNELS."""

    name: str
    engine: str
    start: float
    seconds: float
    is_call: bool
    origin: Origin | None
    instruction: int | None = None

    @property
    def kind(self) -> str:
        return _NUMBERED.sub("", self.name)


@dataclass(frozen=True)
class Execution:
    """`spans`: in the order of their beginnings; operators inside of a delegate besides its call."""

    method: str
    seconds: float
    spans: Sequence[Span]

    @property
    def operators(self) -> list[Span]:
        return [each for each in self.spans if each.engine == KERNELS or not each.is_call]

    def seconds_of(self, instruction: int) -> float | None:
        """Of a call, with all that is inside; None when it did not run."""
        found = [each for each in self.spans if each.is_call and each.instruction == instruction]
        return sum(each.seconds for each in found) if found else None

    def tables(self, prefix: str = "", title: str = "") -> list[Table]:
        """`prefix` begins their names and `title` ends their titles, where there are several executions."""
        named = {
            "kinds": ("kind of operator", self._kinds()),
            "modules": ("module", self._modules()),
            "times": ("operator", self._rows()),
        }
        return [
            Table(f"{prefix}{name}", f"Measured time by {by}{title}", rows, "ms", shown=10)
            for name, (by, rows) in named.items()
        ]

    def picture(self, title: str = "") -> Picture:
        bars = [
            Bar(
                _OUTER if each.is_call else _INNER,
                each.start,
                each.start + each.seconds,
                each.kind,
                f"{each.name}: {timed(1e3 * each.seconds)}{_behind(each.origin)}",
                is_marked=each.engine == KERNELS,
            )
            for each in self.spans
        ]
        name = f"Timeline of {self.method}{title}"
        last = f"{timed(1e3 * self.seconds)}; in orange: kernels"
        return Picture(name, lanes(name, bars, self.seconds, last))

    def _kinds(self) -> list[Row]:
        found: dict[tuple[str, str], list[Span]] = {}
        for each in self.operators:
            found.setdefault((each.kind, each.engine), []).append(each)
        rows = [
            {"operator": kind, "by": engine or "kernels", "count": len(spans), **self._time(spans)}
            for (kind, engine), spans in found.items()
        ]
        return sorted(rows, key=lambda row: -row["ms"])

    def _modules(self) -> list[Row]:
        """With all that is inside of them."""
        found: dict[str, list[Span]] = {}
        for each in self.operators:
            for module in _around(each.origin):
                found.setdefault(module, []).append(each)
        rows = [
            {"module": module or THE_MODEL, "operators": len(spans), **self._time(spans)}
            for module, spans in found.items()
        ]
        listed = [row for row in rows if row["ms"] >= _LEAST_SHARE * 1e3 * self.seconds]
        return sorted(listed, key=lambda row: -row["ms"])

    def _rows(self) -> list[Row]:
        rows = [
            {"operator": each.name, "by": each.engine or "kernels", **self._time([each])}
            | ({"module": each.origin.module, "line": str(each.origin)} if each.origin else {})
            for each in sorted(self.operators, key=lambda each: -each.seconds)
        ]
        columns = dict.fromkeys(column for row in rows for column in row)
        return [{column: row.get(column, "") for column in columns} for row in rows]

    def _time(self, spans: Iterable[Span]) -> Row:
        seconds = sum(each.seconds for each in spans)
        return {"ms": 1e3 * seconds, "share": f"{seconds / self.seconds:.1%}"}


def execution(
    file: ProgramFile, method: str, events: Sequence[Event], origins: Origins | None = None
) -> Execution:
    """Of costs.timing.traced; ValueError when the method was not executed."""
    whole = next((each for each in events if each.name == _METHOD and _is_timed(each)), None)
    if whole is None:
        raise ValueError(f"{file.path}: {method} was not executed, or not traced")
    raw = whole.perf_data.raw
    run = raw.index(min(raw))
    found = sorted(
        _spans(file, method, events, origins, run, whole.start_time[run]),
        key=lambda each: (each.start, not each.is_call),
    )
    return Execution(method, raw[run] / 1e3, found)


def _spans(
    file: ProgramFile,
    method: str,
    events: Sequence[Event],
    origins: Origins | None,
    run: int,
    begin: float,
) -> Iterator[Span]:
    backends = {
        call.instruction: call.name
        for call in file.calls
        if call.method == method and call.delegate is not None
    }
    for event in events:
        is_call = not event.is_delegated_op
        if not (is_operator(event) or event.name == _DELEGATE) or not _is_timed(event):
            continue
        if run >= len(event.perf_data.raw):  # of a branch that other executions took
            continue
        engine = backends.get(event._instruction_id, KERNELS)
        is_named = event.name != _DELEGATE
        known = origins.of_handles(event.debug_handles, method) if origins and is_named else []
        yield Span(
            event.name.removeprefix(KERNEL) if is_named else engine,
            engine,
            (event.start_time[run] - begin) / _TICKS,
            event.perf_data.raw[run] / 1e3,
            is_call,
            known[0] if known else None,
            event._instruction_id,
        )


def _is_timed(event: Event) -> bool:
    return event.perf_data is not None and event.start_time is not None


def _around(origin: Origin | None) -> list[str]:
    """The module of an operator and those that it is in, the model itself first."""
    if origin is None:
        return []
    parts = origin.module.split(".") if origin.module else []
    return [".".join(parts[:count]) for count in range(len(parts) + 1)]


def _behind(origin: Origin | None) -> str:
    return f"\n{origin}" if origin else ""
