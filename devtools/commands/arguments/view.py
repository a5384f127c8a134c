# SPDX-License-Identifier: BSD-3-Clause
"""A program as a page with its graph, folded by module, by line of Python or by backend.

A node says who runs it and why no backend does, its sizes, dtypes and layouts, ranges of quantized values, weights as
histograms, and its milliseconds where an ETDump is given. Two files stand beside each other with what differs. Without
--html the page opens in the browser; it needs neither a server nor a network.

    python -m executorch.devtools view model.pte --etrecord model.etrecord --html model.html
"""

from __future__ import annotations

import argparse
from pathlib import Path


def add_arguments(parser: argparse.ArgumentParser) -> None:
    parser.add_argument(
        "files",
        type=Path,
        nargs="+",
        metavar="file",
        help="a .pte, a .pt2 (torch.export.save) or an .etrecord file; a second one to compare with",
    )
    parser.add_argument(
        "--etrecord",
        type=Path,
        action="append",
        default=[],
        help="the record of a .pte file, for modules, lines and reasons; repeatable, in the order of the files",
    )
    parser.add_argument(
        "--etdump",
        type=Path,
        action="append",
        default=[],
        help="a run of a .pte file (.etdp), for milliseconds; repeatable, in the order of the files",
    )
