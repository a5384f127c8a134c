# SPDX-License-Identifier: BSD-3-Clause
"""What differs between two program files, in operators and in bytes.

The exit status is 0 when the files are equal, 1 when something differs. Constants are compared by their bytes,
wherever they stand.

    python -m executorch.devtools diff before.pte after.pte
"""

from __future__ import annotations

import argparse
from pathlib import Path


def add_arguments(parser: argparse.ArgumentParser) -> None:
    parser.add_argument("a", type=Path, help="a .pte file")
    parser.add_argument("b", type=Path, help="another one")
