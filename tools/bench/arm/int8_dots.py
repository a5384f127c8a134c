# SPDX-License-Identifier: BSD-3-Clause
"""Instructions per multiply-add of our matmuls of GGUF blocks and of int8, by each kind of Arm's dot products:

    cmake --preset linux-arm64 && cmake --build cmake-out-arm64 --target int8_dots
    python -m executorch.tools.bench.arm.int8_dots cmake-out-arm64

Needs Debian's `qemu-user` (`qemu-user-static` takes no plugins) and gcc, for the plugin that counts. Counts repeat to a
few instructions on any machine, loaded or not; they are not time. Fails if two kinds give different bits.
"""

from __future__ import annotations

import argparse
import subprocess
import sys
import tempfile
from dataclasses import dataclass
from pathlib import Path

PLUGIN = Path(__file__).with_name("count_marks.c")
KINDS = ("plain", "dot", "matrix")


@dataclass(frozen=True)
class Count:
    """A line of the program: what it ran between two marks."""

    kind: str
    name: str
    rows: int
    products: int
    bits: str
    instructions: int


def counts_of(lines: str, marks: str) -> list[Count]:
    """From what the program prints, a line a case, and the plugin, a line a mark: two a case."""
    numbers = [int(line.split()[1]) for line in marks.splitlines() if line.startswith("mark ")]
    cases = [line.split("\t") for line in lines.splitlines()]
    if len(numbers) != 2 * len(cases):
        raise ValueError(f"expected 2 marks for each of {len(cases)} cases, got {len(numbers)}")
    return [
        Count(kind, name, int(rows), int(products), bits, number)
        for (kind, name, rows, products, bits), number in zip(cases, numbers[1::2])
    ]


def table_of(counts: list[Count]) -> tuple[list[str], bool]:
    """A line for each matmul with a column for each kind, and whether kinds agree in every bit."""
    table: dict[tuple[str, int], dict[str, Count]] = {}
    for each in counts:
        table.setdefault((each.name, each.rows), {})[each.kind] = each
    lines = [f"{'instructions per product':<24} rows" + "".join(f"{kind:>9}" for kind in KINDS)]
    same = True
    for (name, rows), kinds in table.items():
        found = [
            f"{kinds[kind].instructions / kinds[kind].products:9.3f}"
            if kind in kinds
            else f"{'-':>9}"
            for kind in KINDS
        ]
        agrees = len({each.bits for each in kinds.values()}) == 1
        same = same and agrees
        lines.append(
            f"{name:<24} {rows:>4}" + "".join(found) + ("" if agrees else "  different bits")
        )
    return lines, same


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("build", type=Path, help="folder of a build for 64-bit Arm")
    parser.add_argument("--cpu", default="max", help="what qemu calls the processor (max)")
    parser.add_argument("--emulator", default="qemu-aarch64", help="one that takes plugins")
    parser.add_argument(
        "--libraries", default="/usr/aarch64-linux-gnu", help="folder of Arm's libc"
    )
    options = parser.parse_args()
    with tempfile.TemporaryDirectory() as folder:
        plugin = f"{folder}/count_marks.so"
        compiler = ("gcc", "-O2", "-fPIC", "-shared", "-fvisibility=hidden")
        subprocess.run((*compiler, str(PLUGIN), "-o", plugin), check=True)
        program = options.build / "tools/bench/int8_dots"
        emulator = (options.emulator, "-L", options.libraries, "-cpu", options.cpu)
        ran = subprocess.run(
            (*emulator, "-plugin", plugin, str(program)), capture_output=True, text=True, check=True
        )
    lines, same = table_of(counts_of(ran.stdout, ran.stderr))
    print("\n".join(lines))
    return 0 if same else 1


if __name__ == "__main__":
    sys.exit(main())
