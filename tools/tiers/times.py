# SPDX-License-Identifier: BSD-3-Clause
"""What tests were seen to take (times.tsv), the tier of each that follows, and shards of equal length.

A line of times.tsv is processor seconds of the test's own, seconds of what it shares with others (fixtures of its
module or session), peak memory in MB ("-": not known) and a name, with tabs between. The name is a test's for those
that take more than a second with what they share, and a file's for the sum of its other tests. Numbers are steps of a
quarter and change only when a new one is half as much again or less than two thirds: a run changes few lines.
"""

from __future__ import annotations

import hashlib
import math
import subprocess
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path

ROOT = Path(__file__).resolve().parents[2]
FILE = Path(__file__).resolve().with_name("times.tsv")
HEAD = "# own s\tshared\tMB\ttest, or file for its others (written by: python -m executorch.tools.tiers record)"
SHARDS = 8  # of the slow tier, in continuous integration
SHARE = 1.5  # a number that is this much larger or smaller is a new one
NOTHING = 0.05  # seconds
STEPS = (1, 1.25, 1.6, 2, 2.5, 3.2, 4, 5, 6.3, 8, 10)


@dataclass(frozen=True)
class Tier:
    """`seconds`: what a test of the tier takes at most; one that takes OVER times as many is in the wrong tier."""

    name: str
    seconds: float


FAST, SLOW = Tier("fast", 1), Tier("slow", 120)
TIERS = {tier.name: tier for tier in (FAST, SLOW)}
OVER = 3

# What proves that the installed wheel is whole: in the fast tier whatever it takes. Some 300 tests.
OF_THE_WHEEL = (
    "test/test_tiny.py",
    "test/install/installed_test.py",
    "test/install/wheel_test.py",
    "test/repository/imports_test.py",
    "test/cli/",
    "examples/",
)


@dataclass(frozen=True)
class Cost:
    own: float
    shared: float = 0
    megabytes: int | None = None

    @property
    def seconds(self) -> float:
        """What the test takes alone."""
        return self.own + self.shared

    def line(self, name: str) -> str:
        memory = "-" if self.megabytes is None else str(self.megabytes)
        return f"{self.own:g}\t{self.shared:g}\t{memory}\t{name}"


@dataclass
class Times:
    """By the name of a test that takes more than a second, and by file for all others together."""

    tests: dict[str, Cost] = field(default_factory=dict)
    files: dict[str, Cost] = field(default_factory=dict)


def read(path: Path = FILE) -> Times:
    times = Times()
    for line in path.read_text().splitlines() if path.exists() else ():
        if line.startswith("#"):
            continue
        own, shared, memory, name = line.split("\t", 3)
        cost = Cost(float(own), float(shared), None if memory == "-" else int(memory))
        (times.tests if "::" in name else times.files)[name] = cost
    return times


def write(times: Times, path: Path = FILE) -> None:
    lines = [cost.line(name) for name, cost in sorted({**times.files, **times.tests}.items())]
    path.write_text("\n".join([HEAD, *lines]) + "\n")


def step(value: float) -> float:
    """The nearest of 1, 1.25, 1.6, 2, 2.5 ... times a power of ten."""
    if value <= 0:
        return 0
    power = 10 ** math.floor(math.log10(value))
    nearest = min(STEPS, key=lambda one: abs(math.log(value / power / one)))
    return float(f"{nearest * power:.3g}")


def settled(old: float | None, new: float) -> float:
    """`old` while `new` is about the same, or both are next to nothing."""
    if old is not None and (old / SHARE <= new <= old * SHARE or max(old, new) < NOTHING):
        return old
    return step(new)


def updated(old: Cost | None, new: Cost) -> Cost:
    memory = old.megabytes if old else None
    if new.megabytes is not None:
        memory = int(settled(memory, new.megabytes))
    own, shared = (old.own, old.shared) if old else (None, None)
    return Cost(settled(own, new.own), settled(shared, new.shared), memory)


def recorded(times: Times, seen: Mapping[str, Cost]) -> Times:
    """`times` with what a run has seen; tests that it did not run stay as they are."""
    tests, files = dict(times.tests), dict(times.files)
    sums: dict[str, list[Cost]] = {}
    for name, cost in seen.items():
        # What has no line took a second or less: it gets one when that is clearly not so any more.
        before = tests.pop(name, None)
        if settled(before.seconds if before else FAST.seconds, cost.seconds) > FAST.seconds:
            tests[name] = updated(before, cost)
        elif before is None:  # a run of slow tests alone says nothing of a file's others
            sums.setdefault(file_of(name), []).append(cost)
    for name, costs in sums.items():
        memory = max((one.megabytes or 0 for one in costs), default=0) or None
        total = Cost(sum(one.own for one in costs), 0, memory)
        files[name] = updated(files.get(name), total)
    return Times(tests, files)


def file_of(test: str) -> str:
    return test.partition("::")[0]


def is_there(name: str, root: Path = ROOT) -> bool:
    """Whether a test's file is in the tree and has its function, or takes functions from another file."""
    path, _, rest = name.partition("::")
    function = rest.partition("[")[0].rpartition("::")[2]
    file = root / path
    if not file.is_file() or not function:
        return file.is_file()
    text = file.read_text()
    return f"def {function}(" in text or "import *" in text


def proves_the_wheel(test: str) -> bool:
    return test.startswith(OF_THE_WHEEL)


def tier_of(test: str, times: Times) -> Tier:
    """Of a test by its name; one that was never seen to take more than a second is fast."""
    return SLOW if test in times.tests and not proves_the_wheel(test) else FAST


def slow_files(times: Times) -> dict[str, float]:
    """Files that have slow tests, with the seconds of these; what they share is made once."""
    own: dict[str, float] = {}
    shared: dict[str, float] = {}
    for name, cost in times.tests.items():
        if tier_of(name, times) is SLOW:
            file = file_of(name)
            own[file] = own.get(file, 0) + cost.own
            shared[file] = max(shared.get(file, 0), cost.shared)
    return {file: own[file] + shared[file] for file in own}


def shards(files: Mapping[str, float], count: int) -> list[list[str]]:
    """Whole files, as their tests share what they set up: the longest first, each to the shard that has least."""
    found: list[list[str]] = [[] for _ in range(count)]
    lengths = [0.0] * count
    for name in sorted(files, key=lambda one: (-files[one], one)):
        least = lengths.index(min(lengths))
        found[least].append(name)
        lengths[least] += files[name]
    return found


@dataclass(frozen=True)
class Shard:
    """The `index`th of `count`, from 1."""

    index: int
    count: int

    @classmethod
    def read(cls, text: str) -> Shard:
        """ "3/8", or "drawn": the one of eight that this commit has."""
        if text == "drawn":
            return cls(drawn(SHARDS), SHARDS)
        index, _, count = text.partition("/")
        if not (index.isdigit() and count.isdigit() and 1 <= int(index) <= int(count)):
            raise ValueError(f"expected a shard such as 3/8, or drawn, found {text!r}")
        return cls(int(index), int(count))

    def files(self, times: Times) -> list[str]:
        return shards(slow_files(times), self.count)[self.index - 1]


def drawn(count: int, root: Path = ROOT) -> int:
    """1 to `count`, so that as many changes one after the other see all shards."""
    return place_of_commit(root) % count + 1


def place_of_commit(root: Path = ROOT) -> int:
    """Of the checked-out one in its line. A shallow clone does not know the place; its commit's hash tells instead."""
    if _git(root, "rev-parse", "--is-shallow-repository") == "false":
        number = _git(root, "rev-list", "--count", "--first-parent", "HEAD")
    else:
        number = str(int(_git(root, "rev-parse", "HEAD") or "0", 16))
    return int(number or 0)


def drawn_cases(tests: Sequence[str], count: int, root: Path = ROOT) -> set[str]:
    """Of each function's cases, all where they are `count` at most, else that part of so many that this commit has: in
    an order that has nothing to do with their names, so that a part has something of everything."""
    of_function: dict[str, list[str]] = {}
    for test in tests:
        of_function.setdefault(test.partition("[")[0], []).append(test)
    found, place = set[str](), place_of_commit(root)
    for cases in of_function.values():
        parts = -(-len(cases) // count)
        cases.sort(key=lambda test: hashlib.sha1(test.encode()).digest())
        found.update(cases[place % parts :: parts])
    return found


def _git(root: Path, *words: str) -> str:
    done = subprocess.run(["git", *words], cwd=root, capture_output=True, text=True, check=False)
    return done.stdout.strip() if done.returncode == 0 else ""
