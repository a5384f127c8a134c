# SPDX-License-Identifier: BSD-3-Clause
"""Writes a program as C++ source, for firmware without files: model_pte, aligned to 16 bytes, and model_pte_size.

pte_to_array.py model.pte model_pte.cpp
"""

from __future__ import annotations

import argparse
import sys
from pathlib import Path


def array_source(data: bytes, origin: str) -> str:
    rows = (data[i : i + 16] for i in range(0, len(data), 16))
    text = "\n".join("    " + ", ".join(f"0x{byte:02x}" for byte in row) + "," for row in rows)
    return (
        f"// The bytes of {origin}, written by pte_to_array.py; do not edit.\n"
        "#include <cstddef>\n#include <cstdint>\n\n"
        f"alignas(16) extern const uint8_t model_pte[] = {{\n{text}\n}};\n"
        f"extern const size_t model_pte_size = {len(data)};\n"
    )


def main(arguments: list[str] | None = None) -> int:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("model", type=Path)
    parser.add_argument("source", type=Path)
    options = parser.parse_args(arguments)
    try:
        data = options.model.read_bytes()
    except OSError as error:
        print(f"error: {error}", file=sys.stderr)
        return 1
    if data[4:8] != b"ET12":
        print(
            f"error: {options.model}: expected a program with identifier ET12, found {data[4:8]!r}",
            file=sys.stderr,
        )
        return 1
    options.source.write_text(array_source(data, options.model.name))
    return 0


if __name__ == "__main__":
    sys.exit(main())
