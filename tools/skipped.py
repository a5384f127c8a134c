# SPDX-License-Identifier: BSD-3-Clause
"""Prints the tests that a run of GoogleTest programs left out, with their reasons, as pytest does for its own.

python -m executorch.tools.skipped cmake-out/results
"""

from __future__ import annotations

import argparse
from pathlib import Path
from xml.etree import ElementTree


def skipped_tests(folder: Path) -> list[tuple[str, str]]:
    """(program: suite.test, reason) of each, from the result files of a folder."""
    found = []
    for path in sorted(folder.glob("*.xml")):
        for case in ElementTree.parse(path).iter("testcase"):
            for mark in case.iter("skipped"):
                text = (mark.get("message") or mark.text or "").strip()
                reason = (
                    text.splitlines()[-1] if text else "no reason given"
                )  # file:line stands first
                name = f"{path.stem}: {case.get('classname')}.{case.get('name')}"
                found.append((name, reason))
    return found


def main(argv: list[str] | None = None) -> None:
    parser = argparse.ArgumentParser(description=__doc__.partition("\n")[0])
    parser.add_argument("folder", type=Path, help="folder of GoogleTest's result files (XML)")
    for name, reason in skipped_tests(parser.parse_args(argv).folder):
        print(f"SKIPPED {name}: {reason}")


if __name__ == "__main__":
    main()
