# SPDX-License-Identifier: BSD-3-Clause
"""All rows, by name or family."""

from __future__ import annotations

from executorch.tools.bench.suite import audio, full, text, vision
from executorch.tools.bench.suite.network import Network

NETWORKS: list[Network] = [*vision.ROWS, *text.ROWS, *audio.ROWS, *full.ROWS]


def chosen(names: list[str]) -> list[Network]:
    """The rows whose name or family is among `names`; all where none is given."""
    known = {row.name for row in NETWORKS} | {row.family for row in NETWORKS}
    if unknown := [name for name in names if name not in known]:
        raise SystemExit(f"no network or family is called {unknown[0]!r}; --list prints them")
    return [row for row in NETWORKS if not names or {row.name, row.family} & set(names)]
