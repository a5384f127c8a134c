# SPDX-License-Identifier: BSD-3-Clause
"""Exports networks of layers that numbers draw, runs each three times from a file with freed memory poisoned, and
compares with eager PyTorch.

usage: python -m executorch.tools.drawn [--flow NAME ...] [--count N] [--seed S] [--list-flows]
e.g.   python -m executorch.tools.drawn --flow xnnpack --flow xnnpack_static_int8_per_channel --count 100

Ends with 1 where a network crashed, failed or was wrong; each is named with its seed.
"""

from __future__ import annotations

import argparse
import shlex
import sys
import tempfile
import time
from collections import Counter
from pathlib import Path

from executorch.backends.test.suite.flow import TestFlow, all_flows
from executorch.tools.drawn.attempt import BAD, REFUSED, RIGHT, Machine, Outcome, outcome_of

KINDS = (RIGHT, REFUSED, *BAD)


def parse(argv: list[str] | None) -> argparse.Namespace:
    parser = argparse.ArgumentParser(
        prog="python -m executorch.tools.drawn",
        description=__doc__,
        formatter_class=argparse.RawDescriptionHelpFormatter,
    )
    parser.add_argument("--flow", action="append", metavar="NAME", help="all, when left out")
    parser.add_argument("--list-flows", action="store_true", help="print their names and stop")
    parser.add_argument("--count", type=int, default=30, help="networks for each flow")
    parser.add_argument("--seed", type=int, default=0, help="of the first; the others follow")
    parser.add_argument("--emulator", default="", help="a command that runs --program")
    parser.add_argument("--program", type=Path, help="another module_calls than this build's")
    parser.add_argument("--keep", type=Path, metavar="FOLDER", help="for programs that are bad")
    options = parser.parse_args(argv)
    unknown = set(options.flow or ()) - set(all_flows())
    if unknown:
        parser.error(f"no flow {', '.join(sorted(unknown))}; --list-flows prints them")
    return options


def show(flow: str, seed: int, found: Outcome) -> None:
    text = " ".join(found.text.split())
    print(f"{found.kind}: --flow {flow} --seed {seed} --count 1: {found.name}: {text}", flush=True)


def run_flow(flow: TestFlow, options: argparse.Namespace, folder: Path) -> Counter[str]:
    machine = Machine(tuple(shlex.split(options.emulator)), options.program)
    counts: Counter[str] = Counter()
    start = time.monotonic()
    for done, seed in enumerate(range(options.seed, options.seed + options.count), 1):
        found = outcome_of(seed, flow, machine, folder)
        counts[found.kind] += 1
        if found.kind != RIGHT:
            show(flow.name, seed, found)
        if found.kind not in BAD or options.keep is None:
            (folder / f"{seed}-{flow.name}.pte").unlink(missing_ok=True)
        if sys.stderr.isatty():
            seconds = time.monotonic() - start
            print(
                f"\r{flow.name} {done}/{options.count}, {seconds:.0f} s ", end="", file=sys.stderr
            )
    return counts


def main(argv: list[str] | None = None) -> int:
    options = parse(argv)
    flows = all_flows()
    if options.list_flows:
        print("\n".join(flows))
        return 0
    is_bad = False
    with tempfile.TemporaryDirectory() as folder:
        if options.keep is not None:
            options.keep.mkdir(parents=True, exist_ok=True)
        for name in options.flow or flows:
            counts = run_flow(flows[name], options, options.keep or Path(folder))
            print(f"{name}: " + ", ".join(f"{counts[kind]} {kind}" for kind in KINDS), flush=True)
            is_bad |= any(counts[kind] for kind in BAD)
    return 1 if is_bad else 0


if __name__ == "__main__":
    sys.exit(main())
