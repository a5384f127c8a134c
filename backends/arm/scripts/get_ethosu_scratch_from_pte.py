# SPDX-License-Identifier: BSD-3-Clause
"""How much temporary memory the Ethos-U delegates of a program need: a line for each, and the most.

python -m executorch.backends.arm.scripts.get_ethosu_scratch_from_pte model.pte"""

from __future__ import annotations

import argparse
import sys
from pathlib import Path

from executorch.backends.arm.ethosu.payload import read
from executorch.devtools.commands.program_file import ProgramFile

_ID = "EthosUBackend"


def scratch_sizes(path: Path) -> list[int]:
    file = ProgramFile(path)
    return [
        read(file.payload(delegate)).scratch_size
        for plan in file.program.execution_plan
        for delegate in plan.delegates
        if delegate.id == _ID
    ]


def main(argv: list[str] | None = None) -> int:
    made = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    made.add_argument("file", type=Path, help="a .pte file")
    sizes = scratch_sizes(made.parse_args(argv).file)
    for size in sizes:
        print(f"{_ID}: scratch_size={size} bytes")
    print(f"max_scratch_size={max(sizes, default=0)} bytes")
    return 0


if __name__ == "__main__":
    sys.exit(main())
