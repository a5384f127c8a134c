# SPDX-License-Identifier: BSD-3-Clause
"""In the place of the module over Samsung's compiler: a binary is the graph's bytes behind `NNC`. `refused`: types of
operators of which it makes nothing, as the library does: it only logs. `tail`: of binaries, for stand_in/."""

from __future__ import annotations

from . import LOG

refused: set[str] = set()
tail = b""


class EnnWrapper:
    def Init(self, options: bytes) -> None:
        LOG.append(["EnnWrapper.Init", options.hex()])

    def IsNodeSupportedByBackend(self) -> bool:
        return False

    def Compile(self, graph: bytes) -> bytes:
        kinds = graph.partition(b"\n")[0].decode()
        LOG.append(["EnnWrapper.Compile", kinds])
        is_refused = refused.intersection(kinds.split())
        return b"" if is_refused else b"NNC " + graph + tail

    def Destroy(self) -> None:
        LOG.append(["EnnWrapper.Destroy"])
