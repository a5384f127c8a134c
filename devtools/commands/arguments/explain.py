# SPDX-License-Identifier: BSD-3-Clause
"""Who owns which bytes of a program file.

Every byte is counted once: constants belong to the call that reads them first. With the record of the model
(generate_etrecord=True) operators have their module and their line of Python, those inside of delegates, too.

    python -m executorch.devtools explain model.pte --etrecord model.etrecord --html model.html
"""

from __future__ import annotations

import argparse
from pathlib import Path


def add_arguments(parser: argparse.ArgumentParser) -> None:
    parser.add_argument("file", type=Path, help="a .pte file")
    parser.add_argument("--etrecord", type=Path, help="the model's record, for modules and lines")
    parser.add_argument("--extract", type=Path, help="folder for the payloads of delegates")
