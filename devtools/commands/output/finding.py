# SPDX-License-Identifier: BSD-3-Clause
"""What doctor says: one finding."""

from __future__ import annotations

from dataclasses import dataclass

from executorch.devtools.commands.output.report import Row

STOPS, BREAK, NUMBERS, SLOW, MEMORY = "stops", "break", "numbers", "slow", "memory"


@dataclass(frozen=True)
class Finding:
    """`calls`: how many calls of the file it is about; `num_bytes`: what they write, or what is taken."""

    kind: str
    what: str
    why: str
    next_step: str
    calls: int = 0
    num_bytes: int = 0
    lines: tuple[str, ...] = ()

    def row(self) -> Row:
        return {
            "kind": self.kind,
            "finding": self.what,
            "why": self.why,
            "calls": self.calls,
            "bytes": self.num_bytes,
            "line": self.lines[0] if self.lines else "",
            "next step": self.next_step,
        }
