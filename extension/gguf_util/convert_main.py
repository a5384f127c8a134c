# SPDX-License-Identifier: BSD-3-Clause
"""usage: python -m executorch.extension.gguf_util.convert_main --gguf_file model.gguf --pte_file model.pte"""

from __future__ import annotations

import argparse
import sys
from collections.abc import Sequence
from pathlib import Path

from executorch.extension.gguf_util.converter import convert_to_pte
from executorch.extension.gguf_util.load_gguf import load_file
from executorch.extension.llm.checkpoint.errors import CheckpointError


def main(argv: Sequence[str] | None = None) -> None:
    parser = argparse.ArgumentParser(description="Converts a GGUF file to a program.")
    parser.add_argument("--gguf_file", required=True, help="the file to read")
    parser.add_argument("--pte_file", required=True, type=Path, help="the file to write")
    options = parser.parse_args(argv)
    try:
        contents = convert_to_pte(*load_file(options.gguf_file))
        options.pte_file.write_bytes(contents)
    except (CheckpointError, NotImplementedError, OSError) as error:
        sys.exit(f"convert_main: error: {error}")


if __name__ == "__main__":
    main()
