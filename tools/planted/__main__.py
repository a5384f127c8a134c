# SPDX-License-Identifier: BSD-3-Clause
"""Plants faults one at a time in a copy of the tree, runs the tests beside each, and says what no test noticed.

usage: python -m executorch.tools.planted [--only KIND ...] [--count N] [--seed S] [--match TEXT] [--list]
e.g.   python -m executorch.tools.planted --only planner --count 10 --seed 1     ten of the planner's, in a few minutes

A fault is a condition that always holds, a guard that is never taken, an operand, a row or an annotation that is gone,
a number that is a little off, a parameter of a kernel. Results are kept in build/planted/results.jsonl: a second run
goes on with what has none, --again starts anew. Ends with 1 where a fault went unnoticed and tools/planted/reasons.yaml
gives no reason. The tree itself is never changed; C++ is compiled with the commands of the build in cmake-out.
"""

from __future__ import annotations

import argparse
import json
import random
import sys
import time
from collections import Counter
from contextlib import closing
from pathlib import Path
from typing import Any

from executorch.tools.planted.catalogue import Kind, named
from executorch.tools.planted.copy import Copy
from executorch.tools.planted.page import rows_of, written
from executorch.tools.planted.plants import Plant
from executorch.tools.planted.report import read_reasons, report

ROOT = Path(__file__).resolve().parents[2]
FOLDER = ROOT / "build" / "planted"


def chosen(kinds: list[Kind], match: str, count: int, seed: int) -> list[tuple[Kind, Plant]]:
    """The plants of the kinds; `count` of each, drawn, unless that is 0."""
    found: list[tuple[Kind, Plant]] = []
    for kind in kinds:
        plants = [p for p in kind.plants(ROOT) if match in p.name]
        if 0 < count < len(plants):  # more of the same seed goes on with those drawn before
            random.Random(f"{seed}/{kind.name}").shuffle(plants)
            plants = plants[:count]
        found += [(kind, plant) for plant in plants]
    return found


def existing(kind: Kind, files: int = 0) -> list[str]:
    """Its tests that are there; the first `files` of them, unless that is 0."""
    found = [test for test in kind.tests if (ROOT / test.partition(" -k ")[0]).exists()]
    if not found:
        raise ValueError(f"kind {kind.name}: none of its tests exists: {', '.join(kind.tests)}")
    return found[: files or None]


def runs_of(kind: Kind, files: int = 0) -> list[str]:
    """What is run one after the other; in processes of their own all files together."""
    tests = existing(kind, files)
    together = [test for test in tests if kind.at_import and " -k " not in test]
    return [*([" ".join(together)] if together else []), *(t for t in tests if t not in together)]


def tried(copy: Copy, kind: Kind, plant: Plant, log: Path, files: int = 0) -> dict[str, object]:
    """Runs the kind's tests until one notices."""
    start = time.monotonic()
    row: dict[str, object] = {
        "kind": kind.name,
        "plant": plant.name,
        "new": plant.new,
        "files": files,
    }
    log.unlink(missing_ok=True)
    try:
        for tests in () if kind.native or kind.at_import else existing(kind, files):
            copy.collect(tests)
        copy.plant(plant, kind.native)
        runs = ((tests, copy.run(tests, log, kind.tier)) for tests in runs_of(kind, files))
        noticed, test = next(((tests, ran.test) for tests, ran in runs if ran.failed), ("", ""))
        row |= {"noticed": test.partition("::")[0] or noticed, "test": test}
    except RuntimeError as error:
        row |= {"noticed": "", "problem": str(error)[-600:]}
    finally:
        copy.restore()
    return row | {"seconds": round(time.monotonic() - start, 1)}


def sound(copy: Copy, kinds: list[Kind], log: Path, files: int = 0) -> list[str]:
    """Tests that fail before anything is planted: what they say would mean nothing."""
    tests = dict.fromkeys((test, kind.tier) for kind in kinds for test in existing(kind, files))
    return [test for test, tier in tests if copy.run(test, log, tier).failed]


def parse(argv: list[str] | None) -> argparse.Namespace:
    parser = argparse.ArgumentParser(
        prog="python -m executorch.tools.planted",
        description=__doc__,
        formatter_class=argparse.RawDescriptionHelpFormatter,
    )
    parser.add_argument(
        "--only", nargs="*", default=[], metavar="KIND", help="kinds; all, when left out"
    )
    parser.add_argument(
        "--count", type=int, default=0, help="so many of each kind, drawn; all, when left out"
    )
    parser.add_argument(
        "--files", type=int, default=0,
        help="only so many of each kind's files of tests, the nearest: a quick look, which finds what to look at "
        "closer; a later run goes on with what went unnoticed",
    )  # fmt: skip
    parser.add_argument("--seed", type=int, default=0, help="of what is drawn")
    parser.add_argument("--match", default="", help="plants whose name has this text")
    parser.add_argument("--list", action="store_true", help="print the plants and stop")
    parser.add_argument("--again", action="store_true", help="forget earlier results")
    parser.add_argument(
        "--report", action="store_true", help="only report on results that are there"
    )
    parser.add_argument("--page", type=Path, help="put the rows of these kinds into a page's table")
    parser.add_argument(
        "--before", default="HEAD", metavar="COMMIT",
        help="with --page: what its tests notice counts as noticed before",
    )  # fmt: skip
    parser.add_argument(
        "--trust", action="store_true", help="the tests are known to pass unplanted"
    )
    parser.add_argument("--folder", type=Path, default=FOLDER, help="of the copy, results and logs")
    options = parser.parse_args(argv)
    try:
        options.kinds = named(options.only)
    except ValueError as error:
        parser.error(str(error))
    return options


def show(plants: list[tuple[Kind, Plant]]) -> None:
    for kind, plant in plants:
        print(f"{kind.name:18s}{plant.name}")
    for kind, count in Counter(kind for kind, _ in plants).items():
        print(f"{count:5d}  {kind.name}: {kind.about}")


def plant_all(
    left: list[tuple[Kind, Plant]], folder: Path, trust: bool, files: int = 0
) -> list[str]:
    """Adds a line to the results for each; the tests that fail unplanted, if any do."""
    kinds = list(dict.fromkeys(kind for kind, _ in left))
    with closing(Copy(ROOT, folder / "tree")) as copy:
        if failing := [] if trust else sound(copy, kinds, folder / "unplanted.log", files):
            return failing
        for number, (kind, plant) in enumerate(left, 1):
            row = tried(copy, kind, plant, folder / "planted.log", files)
            with (folder / "results.jsonl").open("a") as file:
                file.write(json.dumps(row) + "\n")
            message = row["noticed"] or row.get("problem") or "NOT NOTICED"
            print(
                f"{number}/{len(left)}  {row['seconds']} s  {plant.name}  ->  {message}", flush=True
            )
    return []


def read_rows(results: Path) -> list[dict[str, Any]]:
    return [json.loads(r) for r in results.read_text().splitlines()] if results.exists() else []


def is_done(row: dict[str, Any], files: int) -> bool:
    """Whether a result answers what is asked now: noticed, or by as many files of tests."""
    enough = row.get("files", 0) == 0 or 0 < files <= row["files"]
    return "problem" not in row and (bool(row["noticed"]) or enough)


def main(argv: list[str] | None = None) -> int:
    options = parse(argv)
    plants = chosen(options.kinds, options.match, options.count, options.seed)
    if options.list:
        show(plants)
        return 0
    folder = options.folder.absolute()
    results = folder / "results.jsonl"
    if options.again:
        results.unlink(missing_ok=True)
    done = {row["plant"] for row in read_rows(results) if is_done(row, options.files)}
    left = [] if options.report else [(k, p) for k, p in plants if p.name not in done]
    if left and (failing := plant_all(left, folder, options.trust, options.files)):
        print(
            f"fails before anything is planted: {', '.join(failing)}; see {folder}/unplanted.log",
            file=sys.stderr,
        )
        return 2
    wanted = {plant.name for _, plant in plants}
    newest = {row["plant"]: row for row in read_rows(results)}
    found, reasons = [newest[p] for p in newest if p in wanted], read_reasons()
    lines, bare = report(found, reasons)
    print("\n".join(lines))
    if options.page:
        rows = rows_of(ROOT, options.kinds, found, reasons, options.before)
        options.page.write_text(written(options.page.read_text(), rows))
    return 1 if bare else 0


if __name__ == "__main__":
    sys.exit(main())
