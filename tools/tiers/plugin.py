# SPDX-License-Identifier: BSD-3-Clause
"""A plugin of pytest: measures each test, with --tier runs those of one tier, and tells what depends on the machine.

A test's processor seconds are its own with those of the processes that it waited for, and those of every fixture of
its module or session that it uses, whichever test was the first to use it: so they do not depend on the order of tests.
They and the peak memory go into the result file (--junitxml) as properties.
"""

from __future__ import annotations

import contextlib
import math
import os
import re
import signal
import sys
from collections.abc import Generator
from pathlib import Path
from typing import Any

import pytest

from executorch.tools.tiers import times
from executorch.tools.tiers.clock import CLOCK

SECONDS, SHARED, MEGABYTES = "processor_seconds", "shared_seconds", "peak_megabytes"
LEAST = 0.005  # seconds that are shown


def pytest_addoption(parser: pytest.Parser) -> None:
    group = parser.getgroup("tiers")
    group.addoption("--tier", choices=sorted(times.TIERS), help="run the tests of this tier alone")
    group.addoption(
        "--shard", metavar="I/N", help="of the slow tier, this part: 3/8, or drawn (by the commit)"
    )
    group.addoption(
        "--cases",
        type=int,
        metavar="N",
        help="of each test with more cases, N (drawn by the commit)",
    )
    group.addoption(
        "--twice", action="store_true", help="run each test again at once; the second time counts"
    )


def pytest_configure(config: pytest.Config) -> None:
    config.pluginmanager.register(Meter(), "tiers_meter")
    if getattr(config.option, "maxworkerrestart", 0) is None:
        # With --dist loadfile, xdist waits for ever after it replaced a process that ended: finished files of that one
        # are handed out again, and nothing is reported of them.
        config.option.maxworkerrestart = "0"
    if hasattr(config, "workerinput"):
        _one_thread_of_torch()
    if text := config.getoption("--shard"):
        if config.getoption("--tier") != times.SLOW.name:
            raise pytest.UsageError("expected --tier slow with --shard: only that tier has shards")
        try:
            shard = times.Shard.read(text)
        except ValueError as error:
            raise pytest.UsageError(str(error)) from error
        config.pluginmanager.register(OfShard(shard.files(times.read())), "tiers_shard")
        if not hasattr(config, "workerinput"):
            print(f"slow tier: shard {shard.index} of {shard.count}", flush=True)


@pytest.hookimpl(optionalhook=True)
def pytest_testnodedown(node: Any, error: object) -> None:
    """Of a process of tests that ended too early: how, which xdist does not tell."""
    if error:
        code = node.gateway._io.popen.wait(timeout=60)
        ended = (
            f"by signal {-code} ({signal.strsignal(-code)})" if code < 0 else f"with code {code}"
        )
        print(f"\n{node.gateway.id} ended {ended}", file=sys.stderr, flush=True)


def _one_thread_of_torch() -> None:
    """In this process and those that it starts: of processes side by side, two threads wait at every operator until the
    other has a processor, which takes up to thirty times as long."""
    if "OMP_NUM_THREADS" not in os.environ:
        os.environ["OMP_NUM_THREADS"] = "1"
        if torch := sys.modules.get("torch"):
            torch.set_num_threads(1)


class OfShard:
    """Leaves out the files of other shards before they are imported."""

    def __init__(self, files: list[str]) -> None:
        self.files = frozenset(files)

    def pytest_ignore_collect(self, collection_path: Path, config: pytest.Config) -> bool | None:
        if collection_path.suffix != ".py" or collection_path.name in (
            "conftest.py",
            "__init__.py",
        ):
            return None
        path = os.path.relpath(collection_path, config.rootpath)
        return None if Path(path).as_posix() in self.files else True


def pytest_collection_modifyitems(config: pytest.Config, items: list[pytest.Item]) -> None:
    if name := config.getoption("--tier"):
        known, left = times.read(), []
        for item in items:
            if times.tier_of(item.nodeid, known).name != name:
                left.append(item)
        _leave_out(config, items, left)
    if count := config.getoption("--cases"):
        drawn = times.drawn_cases([item.nodeid for item in items], count)
        _leave_out(config, items, [item for item in items if item.nodeid not in drawn])
    if config.getoption("--twice"):
        items[:] = [item for item in items for _ in range(2)]


def _leave_out(config: pytest.Config, items: list[pytest.Item], left: list[pytest.Item]) -> None:
    config.hook.pytest_deselected(items=left)
    gone = set(left)
    items[:] = [item for item in items if item not in gone]


class PeakMemory:
    """Of this process since start(), and of a process that ended since then, in MB; None where the system does not
    tell."""

    STATUS, RESET = Path("/proc/self/status"), Path("/proc/self/clear_refs")

    def __init__(self) -> None:
        self.of_children = 0

    def start(self) -> None:
        with contextlib.suppress(OSError):
            self.RESET.write_text("5")  # the peak starts again at what is resident now
        self.of_children = self._children()

    def megabytes(self) -> int | None:
        try:
            found = re.search(r"^VmHWM:\s+(\d+) kB", self.STATUS.read_text(), re.M)
        except OSError:
            return None
        own = int(found[1]) // 1024 if found else 0
        children = (
            self._children()
        )  # the largest of all that ever ended: a new one only when it grew
        return max(own, children if children > self.of_children else 0)

    @staticmethod
    def _children() -> int:
        if sys.platform != "linux":
            return 0
        import resource

        return resource.getrusage(resource.RUSAGE_CHILDREN).ru_maxrss // 1024


@pytest.hookimpl(wrapper=True)
def pytest_runtest_makereport(
    item: pytest.Item, call: pytest.CallInfo
) -> Generator[None, pytest.TestReport, pytest.TestReport]:
    """What a test that is marked `machine` found is told as an expected failure, and does not block."""
    report = yield
    mark = item.get_closest_marker("machine")
    if (
        mark
        and report.when == "call"
        and call.excinfo
        and call.excinfo.errisinstance(AssertionError)
    ):
        message = str(call.excinfo.value).partition("\n")[0]
        report.outcome, report.wasxfail = "skipped", f"{' '.join(mark.args)}: {message}"
    return report


class Meter:
    """One test at a time."""

    def __init__(self) -> None:
        self.memory = PeakMemory()
        self.began = 0.0
        self.shared: dict[str, float] = {}  # seconds of each fixture that outlives a test, by name
        self.made_now = 0.0  # of those, what this test paid
        self.depth = 0

    @pytest.hookimpl(wrapper=True, tryfirst=True)
    def pytest_runtest_setup(self, item: pytest.Item) -> Generator[None, None, None]:
        self.memory.start()
        self.began, self.made_now = CLOCK.seconds(), 0.0
        return (yield)

    @pytest.hookimpl(wrapper=True, tryfirst=True)
    def pytest_fixture_setup(
        self, fixturedef: pytest.FixtureDef, request: pytest.FixtureRequest
    ) -> Generator[None, object, object]:
        if fixturedef.scope == "function":
            return (yield)
        began = CLOCK.seconds()
        self.depth += 1
        try:
            return (yield)
        finally:
            self.depth -= 1
            seconds = CLOCK.seconds() - began
            self.shared[fixturedef.argname] = seconds
            if self.depth == 0:  # one that another asks for is part of that
                self.made_now += seconds

    @pytest.hookimpl(wrapper=True, tryfirst=True)
    def pytest_runtest_teardown(self, item: pytest.Item) -> Generator[None, None, None]:
        """The report of the teardown has the properties, as it is made afterwards."""
        try:
            return (yield)
        finally:
            own = CLOCK.seconds() - self.began - self.made_now
            used = sum(self.shared.get(name, 0) for name in getattr(item, "fixturenames", ()))
            put(item, SECONDS, own, LEAST)
            put(item, SHARED, used, LEAST)
            put(
                item, MEGABYTES, self.memory.megabytes() or 0, 1 if own + used > LEAST else math.inf
            )


def put(item: pytest.Item, name: str, value: float, least: float) -> None:
    item.user_properties[:] = [one for one in item.user_properties if one[0] != name]
    if value >= least:
        item.user_properties.append((name, f"{value:.3g}"))
