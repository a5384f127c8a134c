# SPDX-License-Identifier: BSD-3-Clause
from __future__ import annotations

import argparse
import shutil
import sys
from pathlib import Path

from executorch.backends.discovery import backends
from executorch.backends.test import device_check
from executorch.backends.test.device_check.programs import NotTaken, Subject, program_of, subjects


def main(argv: list[str] | None = None) -> int:
    parser = argparse.ArgumentParser(
        prog="python -m executorch.backends.test.device_check",
        description=device_check.__doc__,
        formatter_class=argparse.RawDescriptionHelpFormatter,
    )
    parser.add_argument("backend", choices=backends())
    parser.add_argument("folder", type=Path, help="what is carried to the device")
    parser.add_argument("names", nargs="*", help="only programs whose names contain one of these")
    parser.add_argument(
        "--every", type=int, default=1, metavar="N", help="every Nth row of the corpus"
    )
    parser.add_argument("--half", action="store_true", help="floats of 16 bits")
    options = parser.parse_intermixed_args(argv)
    options.folder.mkdir(parents=True, exist_ok=True)
    shutil.copy(Path(__file__).with_name("check.sh"), options.folder)
    num_bytes, count, left = 0, 0, []
    for subject in subjects(options.backend, options.every, options.names):
        try:
            data = program_of(subject, options.backend, options.half)
        except NotTaken as reason:
            left.append(f"{subject.name}: {reason}")
            continue
        (options.folder / f"{file_name(subject)}.pte").write_bytes(data)
        num_bytes, count = num_bytes + len(data), count + 1
    (options.folder / "left_out.txt").write_text("\n".join([*left, ""]))
    print(
        f"{count} programs, {num_bytes:,} bytes; {len(left)} rows left out: {options.folder}/left_out.txt says why"
    )
    print(f"Next, on the device: sh {options.folder.name}/check.sh ./executor_runner")
    return 0 if count else 1


def file_name(subject: Subject) -> str:
    return "".join(each if each.isalnum() else "_" for each in subject.name)


if __name__ == "__main__":
    sys.exit(main())
