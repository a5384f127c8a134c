# SPDX-License-Identifier: BSD-3-Clause
"""Memory of mapped checkpoints: a page stays resident once it was read, also when fewer bits replaced its tensor.

One mapping serves all tensors of a file, so it lives as long as any of them, such as a norm's weight.
"""

from __future__ import annotations

import ctypes
import sys
from pathlib import Path

_MAPS = Path("/proc/self/maps")
_PAGEOUT = (
    21  # MADV_PAGEOUT: pages that were written stay, others are read again when they are needed
)


def release_pages(checkpoint: Path) -> None:
    """Hints that the pages of this file, or of the files of this folder, are not needed soon; Linux only."""
    if not sys.platform.startswith("linux") or not _MAPS.exists():
        return
    advise = ctypes.CDLL(None).madvise
    advise.argtypes = (ctypes.c_void_p, ctypes.c_size_t, ctypes.c_int)
    place = checkpoint.resolve()
    for line in _MAPS.read_text().splitlines():
        bounds, slash, path = line.split(" ")[0], *line.partition("/")[1:]
        mapped = Path(slash + path)
        if slash and (mapped == place or place in mapped.parents):
            start, end = (int(bound, 16) for bound in bounds.split("-"))
            advise(start, end - start, _PAGEOUT)
