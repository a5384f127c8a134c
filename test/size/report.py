# SPDX-License-Identifier: BSD-3-Clause
"""Size of the core: a stripped program with it minus one without it, and where the bytes come from."""

from __future__ import annotations

import argparse
import re
import sys
from collections import Counter
from pathlib import Path

# The promise is 50,000 (RT-043). The program grows by pages of 4,096: 37,280, 41,376.
LIMIT = 42_000
AIM = 36_000

# An input section of the map: " .text.name  0x...  0x size  archive(object)"; long names break the line.
SECTION = re.compile(r"^ (\.[\w.$]+|COMMON)\s+0x[0-9a-f]+\s+0x([0-9a-f]+)\s+(\S+)$", re.MULTILINE)
# Sections that take no room in the file.
NO_FILE_BYTES = (".bss", "COMMON", ".comment", ".note", ".debug", ".gnu.lto")


def section_sizes(map_text: str) -> Counter[str]:
    """Bytes per object file, from the part of a GNU ld map that lists what is linked in."""
    _, _, linked = map_text.partition("Linker script and memory map")
    joined = re.sub(r"\n\s+(0x[0-9a-f]+\s+0x)", r" \1", linked)
    sizes: Counter[str] = Counter()
    for name, size, path in SECTION.findall(joined):
        if not name.startswith(NO_FILE_BYTES):
            sizes[re.sub(r".*\(|\)$", "", path).removesuffix(".o").rsplit("/", 1)[-1]] += int(
                size, 16
            )
    return sizes


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("build", type=Path)
    build = parser.parse_args().build
    with_core = (build / "size_test").stat().st_size
    without = (build / "size_test_empty").stat().st_size
    sizes = section_sizes((build / "size_test.map").read_text())
    sizes.subtract(section_sizes((build / "size_test_empty.map").read_text()))
    print(f"{'object file':<40} {'bytes':>8}")
    for name, size in sizes.most_common():
        if size > 0:
            print(f"{name:<40} {size:>8,}")
    core = with_core - without
    print(f"{'size_test, stripped':<40} {with_core:>8,}")
    print(f"{'size_test_empty, stripped':<40} {without:>8,}")
    print(f"{'core with verifier and prim ops':<40} {core:>8,}   limit {LIMIT:,}, aim {AIM:,}")
    if core > LIMIT:
        print(f"The core is {core - LIMIT:,} bytes above its limit.", file=sys.stderr)
        return 1
    return 0


if __name__ == "__main__":
    sys.exit(main())
