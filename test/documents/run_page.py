# SPDX-License-Identifier: BSD-3-Clause
"""Runs the Python blocks of a page in order, in this process and folder: what a reader does who pastes one after the
other. The last line tells how many of them ran.

usage: python run_page.py <page>
"""

from __future__ import annotations

import re
import sys
from pathlib import Path


def blocks(page: str, language: str) -> list[str]:
    return re.findall(rf"^```{language}\n(.*?)^```", page, re.S | re.M)


def main() -> int:
    path = Path(sys.argv[1])
    codes = blocks(path.read_text(), "python")
    names = {"__name__": "__main__"}
    ran = 0
    try:
        for number, code in enumerate(codes, 1):
            exec(compile(code, f"{path.name}, block {number}", "exec"), names)
            ran += 1
    finally:
        print(f"{path.name}: {ran} of {len(codes)} blocks ran", flush=True)
    return 0


if __name__ == "__main__":
    sys.exit(main())
