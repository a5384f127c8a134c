# SPDX-License-Identifier: BSD-3-Clause
"""Runs in the peer's environment: what `lower(path)` of SCRIPT makes of each FOLDER/<name>.pt2 is written beside it as
<name>.pte; what fails leaves <name>.pte.error."""

from __future__ import annotations

import argparse
import runpy
import sys
from pathlib import Path


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("script")
    parser.add_argument("folder", type=Path)
    parser.add_argument("packages", nargs="*", help="folders of what SCRIPT imports")
    given = parser.parse_args()
    sys.path += given.packages
    lower = runpy.run_path(given.script)["lower"]
    for path in sorted(given.folder.glob("*.pt2")):
        out = path.with_suffix(".pte")
        try:
            out.write_bytes(lower(path))
        except Exception as error:
            Path(f"{out}.error").write_text(f"{type(error).__name__}: {error}")


if __name__ == "__main__":
    main()
