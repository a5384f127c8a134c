# SPDX-License-Identifier: BSD-3-Clause
"""What results say of two engines: ratios of times and of errors, their distribution, and how far they vary."""

from __future__ import annotations

import statistics
from collections.abc import Iterable, Iterator

from executorch.tools.bench.figures import geometric_mean
from executorch.tools.bench.suite.results import Row

OURS, PLAIN, EAGER, UPSTREAM = "xnnpack", "kernels", "eager", "upstream"
RIVALS = ("onnxruntime", "openvino")
COLUMNS = (OURS, PLAIN, UPSTREAM, *RIVALS, EAGER)
DELEGATE = " delegate"  # one of our other backends, as engines/process.py has them
PAIRS = (
    ("ours / best rival", OURS, RIVALS),
    ("ours / upstream", OURS, (UPSTREAM,)),
    ("delegated / not", OURS, (PLAIN,)),
    ("not delegated / eager", PLAIN, (EAGER,)),
)
# An answer that is further from eager counts as none: ||found - expected|| / ||expected||.
RIGHT = {"float": 1e-2, "float16": 3e-2, "bfloat16": 0.3, "int8": 1.0, "dynamic": 1.0}
EXTREME = 5  # as many smallest ratios are left out of a second mean


def delegates(rows: Iterable[Row]) -> list[str]:
    """Engines that are other backends of ours."""
    found = {engine for row in rows for engine in row["engines"] if engine.endswith(DELEGATE)}
    return sorted(found)


def columns(rows: Iterable[Row]) -> tuple[str, ...]:
    return (*COLUMNS, *delegates(rows))


def pairs(rows: Iterable[Row]) -> Iterator[tuple[str, str, tuple[str, ...]]]:
    """Of two engines: what they are called, which is above, and of which others the fastest is below. Another backend
    stands beside XNNPACK, and beside the rival whose library it is."""
    yield from PAIRS
    for engine in delegates(rows):
        for other in (OURS, engine.removesuffix(DELEGATE)):
            yield f"{engine} / {other}", engine, (other,)


def is_wrong(row: Row, engine: str) -> bool:
    """Only engines that answered can be."""
    found = row["engines"].get(engine, {}).get("difference", 0.0)
    return not found <= RIGHT[row["precision"]]


def taken(row: Row, engine: str, by: str = "") -> float | None:
    """Milliseconds by the row's clock, or by `median`; None where the engine was not asked, could not or was wrong."""
    answer = row["engines"].get(engine, {})
    if "error" in answer or is_wrong(row, engine):
        return None
    return answer.get(by or row["clock"])


def ratio(row: Row, above: str, *below: str, by: str = "") -> float | None:
    """Of one engine to the fastest of others."""
    others = [ms for engine in below if (ms := taken(row, engine, by))]
    mine = taken(row, above, by)
    return mine / min(others) if mine and others else None


def spread(row: Row, above: str, *below: str) -> tuple[float, float] | None:
    """The least and the largest ratio of a round's minima."""
    every = {
        engine: row["engines"][engine]["rounds"]
        for engine in (above, *below)
        if taken(row, engine) and row["engines"][engine].get("rounds")
    }
    mine = every.pop(above, [])
    if not mine or not every:
        return None
    found = [here / min(others) for here, *others in zip(mine, *every.values())]
    return (min(found), max(found)) if found else None


def again(row: Row) -> Row:
    """The row as it was measured the second time."""
    return {**row, "engines": row["again"]}


def repeated(row: Row, above: str, *below: str) -> float | None:
    return ratio(again(row), above, *below) if "again" in row else None


def off(row: Row, engine: str) -> float | None:
    """How far from eager in float; None where that is nothing, or all."""
    found = row["engines"].get(engine, {}).get("difference", 0.0)
    return found if 0.0 < found < 1.0 else None


def difference(row: Row, engine: str) -> float | None:
    """The error of ours to that of another engine."""
    mine, theirs = off(row, OURS), off(row, engine)
    return mine / theirs if mine and theirs else None


Ratios = dict[str, float]


def tables(rows: list[Row]) -> Iterator[tuple[str, Ratios]]:
    """Ratios by network, for each pair of engines of which there are any."""
    for label, above, below in pairs(rows):
        found = {row["name"]: r for row in rows if (r := ratio(row, above, *below))}
        if found:
            yield label, found
            if label == PAIRS[1][0] and len(found) > 4 * EXTREME:
                extreme = sorted(found, key=lambda name: found[name])[:EXTREME]
                rest = {name: r for name, r in found.items() if name not in extreme}
                yield f"{label} without {', '.join(extreme)}", rest
    if any(row["precision"] != "float" for row in rows):
        for engine in (UPSTREAM, *RIVALS):
            found = {row["name"]: r for row in rows if (r := difference(row, engine))}
            if found:
                yield f"difference to eager, ours / {engine}", found


def distribution(found: Ratios) -> tuple[float, float, float, str]:
    """Geometric mean, median, 90th percentile, and which is the worst."""
    values = sorted(found.values())
    ninth = statistics.quantiles(values, n=10, method="inclusive")[-1] if values[1:] else values[0]
    worst = max(found, key=lambda name: found[name])
    return geometric_mean(values), statistics.median(values), ninth, worst


def by_worst(rows: list[Row]) -> list[Row]:
    def worst(row: Row) -> float:
        return ratio(row, OURS, *RIVALS) or ratio(row, OURS, PLAIN, EAGER) or 0.0

    return sorted(rows, key=worst, reverse=True)
