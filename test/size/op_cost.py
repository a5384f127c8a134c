# SPDX-License-Identifier: BSD-3-Clause
"""What each portable operator adds to a program that selects it: text with all its dtypes, messages stripped.

Programs are linked without unreferenced sections. The base holds the runtime and the loops that kernels share; an
operator is then its kernel function and what only that needs. Registration and the unboxing of arguments are not
counted.
"""

from __future__ import annotations

import argparse
import re
import statistics
import subprocess
import sys
from pathlib import Path

ROOT = Path(__file__).resolve().parents[2]
sys.path.insert(0, str(ROOT / "src"))

from executorch.codegen.op_table import read_table  # noqa: E402
from executorch.codegen.schema import SchemaSource  # noqa: E402

LIMIT = 2048
SHARED = ("kernels/portable/libkernels_util_all_deps.a", "runtime/libexecutorch_core.a")
KERNELS = "kernels/portable/libportable_kernels.a"


def output_of(*command: object) -> str:
    words = [str(word) for word in command]
    return subprocess.run(words, check=True, capture_output=True, text=True).stdout


def symbols(archive: Path, *options: str) -> list[str]:
    """Names of the functions that an archive defines for others."""
    lines = output_of("nm", "--defined-only", *options, archive).splitlines()
    return [line.split(" ", 2)[2] for line in lines if " T " in line]


class Linker:
    """Links programs that keep some symbols, and tells their text."""

    def __init__(self, build: Path, folder: Path) -> None:
        self._build, self._folder = build, folder
        main = folder / "main.cpp"
        main.write_text('extern "C" void et_pal_init(void);\nint main() { et_pal_init(); }\n')
        self._object = folder / "main.o"
        output_of("c++", "-Os", "-c", main, "-o", self._object)
        self._roots = [name for archive in SHARED for name in symbols(build / archive)]

    def text(self, kept: list[str]) -> int:
        """Bytes of code and constants of a program with the base and these symbols."""
        response = self._folder / "symbols.txt"
        response.write_text("\n".join(f"-Wl,-u,{name}" for name in [*self._roots, *kept]))
        program = self._folder / "program"
        archives = [self._build / name for name in (KERNELS, *SHARED)]
        group = ["-Wl,--start-group", *archives, "-Wl,--end-group"]
        output_of("c++", self._object, "-Wl,--gc-sections", f"@{response}", *group, "-o", program)
        return int(output_of("size", program).splitlines()[1].split()[0])


def kernel_symbols(build: Path) -> dict[str, str]:
    """Mangled name by the name that functions.yaml gives a kernel."""
    archive = build / KERNELS
    mangled, readable = symbols(archive), symbols(archive, "-C")
    found = {}
    for name, text in zip(mangled, readable, strict=True):
        if match := re.match(r"torch::executor::native::(\w+)\(", text):
            found[match[1]] = name
    return found


def main() -> int:
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("build", type=Path, help="build folder of the minsize preset")
    parser.add_argument("--all", action="store_true", help="print every operator")
    options = parser.parse_args()
    build = options.build.resolve()
    folder = build / "op_cost"
    folder.mkdir(exist_ok=True)
    linker = Linker(build, folder)
    base = linker.text([])
    by_name = kernel_symbols(build)
    table = read_table(ROOT / "kernels/portable/functions.yaml", SchemaSource())
    costs = {}
    for row in table:
        kernel = row.kernels[0].cpp_name
        costs[row.schema.qualified_name] = linker.text([by_name[kernel]]) - base
    everything = linker.text(list(by_name.values())) - base
    ordered = sorted(costs.items(), key=lambda item: -item[1])
    for name, cost in ordered if options.all else ordered[:10]:
        print(f"{name:<48} {cost:>8,}")
    median = int(statistics.median(costs.values()))
    print(f"{'runtime and shared loops':<48} {base:>8,}")
    print(
        f"{f'all {len(costs)} operators together':<48} {everything:>8,}   {everything // len(costs):,} each"
    )
    print(f"{'median operator alone':<48} {median:>8,}   limit {LIMIT:,}")
    if median > LIMIT:
        print(f"The median operator is {median - LIMIT:,} bytes above its limit.", file=sys.stderr)
        return 1
    return 0


if __name__ == "__main__":
    sys.exit(main())
