# SPDX-License-Identifier: BSD-3-Clause
"""What tests take, and what follows.

python -m executorch.tools.tiers record      what the last runs (build/results) took goes into times.tsv
python -m executorch.tools.tiers over        fails where a test took three times what its tier allows
python -m executorch.tools.tiers reached     runs the fast tests that the change can reach by imports
"""

from __future__ import annotations

import argparse
import os
import subprocess
import sys
from collections import Counter
from pathlib import Path

from executorch.tools.tiers import times
from executorch.tools.tiers.reach import reached, room_of
from executorch.tools.tiers.results import misplaced, seen

RESULTS = times.ROOT / "build" / "results"
SECONDS = 50.0  # of recorded time for each processor that `make check` gives to Python tests
PARALLEL = 8.0  # seconds from which several processes are worth their start
AGAIN = 20  # tests that are measured again before the check fails


def result_files(given: list[Path]) -> list[Path]:
    return given or sorted(RESULTS.glob("pytest-*.xml"))


def record(options: argparse.Namespace) -> int:
    before, costs = times.read(), seen(result_files(options.files))
    now = times.recorded(before, costs)
    gone = [name for name in (*now.tests, *now.files) if not times.is_there(name)]
    for name in gone:
        now.tests.pop(name, None)
        now.files.pop(name, None)
    times.write(now)
    more, fewer = now.tests.keys() - before.tests.keys(), before.tests.keys() - now.tests.keys()
    for sign, names in (("+", more), ("-", fewer)):
        for name in sorted(names):
            print(f"{sign} {name}")
    print(f"{len(costs)} tests read, {len(now.tests)} take more than {times.FAST.seconds:g} s")
    return 0


def over(options: argparse.Namespace) -> int:
    known, costs = times.read(), seen(result_files(options.files))
    found = misplaced(costs, known)
    if found and len(found) <= AGAIN and not options.once:
        # What the first test of a process imports for all others is not its own: the second time counts.
        print(f"{len(found)} tests are measured again ...", flush=True)
        command = [sys.executable, "scripts/installed.py", "--reuse", "-q", "--twice", *found]
        subprocess.run(command, cwd=times.ROOT, capture_output=True, check=False)
        again = seen(result_files([]))
        found = misplaced({name: again.get(name, costs[name]) for name in found}, known)
    for name, (tier, cost) in sorted(found.items()):
        print(
            f"{name}: expected at most {tier.seconds:g} s of processor time in the {tier.name} tier, found "
            f"{cost.seconds:.1f} s"
        )
    if found:
        print("next step: make them shorter, or run `python -m executorch.tools.tiers record` and")
        print("commit tools/tiers/times.tsv")
        return 1
    print(f"tiers: {len(costs)} tests, none takes {times.OVER} times what its tier allows")
    return 0


def run_reached(options: argparse.Namespace) -> int:
    processors = os.cpu_count() or 1
    changed, choice = reached(options.base, times.read(), SECONDS * processors)
    print(
        f"{len(changed)} files changed; {len(choice.chosen)} test files run, about "
        f"{choice.seconds / processors:.0f} s; {len(choice.left)} more are reached"
        + ("; `make test` runs them" if choice.left else ""),
        flush=True,
    )
    if choice.left:
        rooms = Counter(room_of(Path(name)) for name in choice.left)
        print("not run: " + ", ".join(f"{count} of {room}" for room, count in rooms.most_common()))
    if not choice.chosen:
        return 0
    command = [sys.executable, "-m", "pytest", "-q", "--tier", times.FAST.name]
    if choice.seconds > PARALLEL and processors > 1:
        command += ["-n", str(processors), "--dist", "loadfile"]
    RESULTS.mkdir(parents=True, exist_ok=True)
    command += [f"--junitxml={RESULTS / 'pytest-check.xml'}", *choice.chosen, *options.arguments]
    environment = {"OMP_WAIT_POLICY": "PASSIVE", **os.environ}  # as scripts/installed.py has it
    done = subprocess.run(command, cwd=times.ROOT, env=environment, check=False)
    return 0 if done.returncode == 5 else done.returncode  # 5: no fast tests in these files


def main(argv: list[str] | None = None) -> int:
    parser = argparse.ArgumentParser(description=__doc__.partition("\n")[0])
    commands = parser.add_subparsers(required=True)
    for name, action in (("record", record), ("over", over)):
        command = commands.add_parser(name)
        command.add_argument("files", type=Path, nargs="*", help="result files; build/results")
        command.set_defaults(action=action)
        command.add_argument("--once", action="store_true", help="do not measure again")
    command = commands.add_parser("reached")
    command.add_argument("--base", help="compare with this commit, not with where main was left")
    command.add_argument("arguments", nargs="*", help="arguments of pytest, after --")
    command.set_defaults(action=run_reached)
    options = parser.parse_args(argv)
    return options.action(options)


if __name__ == "__main__":
    sys.exit(main())
