# SPDX-License-Identifier: BSD-3-Clause
"""How fast a machine does each kind of work, on the kernels and on a backend; rates.py measures this one."""

from __future__ import annotations

import math
import platform
from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from executorch.devtools.costs.work import Work

KERNELS = ""  # the engine of operators outside of delegates
# Operands of one operator that stay in caches, and that do not; in between the rate is too.
NEAR_BYTES, FAR_BYTES = 1 << 20, 1 << 25


@dataclass(frozen=True)
class Engine:
    """`rates`: by kind, amounts per second (work.py); `near`, `far`: bytes per second; `call`: seconds of an operator
    before it does anything: arguments, checks, waking threads."""

    near: float
    far: float
    call: float
    rates: Mapping[str, float] = field(default_factory=dict)

    def bytes_per_second(self, num_bytes: int) -> float:
        far = math.log(max(num_bytes, 1) / NEAR_BYTES) / math.log(FAR_BYTES / NEAR_BYTES)
        return self.near * (self.far / self.near) ** min(max(far, 0.0), 1.0)


@dataclass(frozen=True)
class Machine:
    """`engines`: KERNELS, and backends by their names."""

    engines: Mapping[str, Engine]

    def seconds(self, engine: str, works: Iterable[Work], num_bytes: int) -> float:
        """Of one operator that does all this. What the engine has no rate for takes the kernels'."""
        kernels = self.engines[KERNELS]
        mine = self.engines.get(engine, kernels)
        rates = {**kernels.rates, **mine.rates}
        computing = sum(work.amount / rates[work.kind] for work in works if work.kind in rates)
        return mine.call + max(computing, num_bytes / mine.bytes_per_second(num_bytes))


def processor() -> str:
    """The name of this machine's processor."""
    path = Path("/proc/cpuinfo")
    lines = path.read_text().splitlines() if path.exists() else []
    names = [line.partition(":")[2].strip() for line in lines if line.startswith("model name")]
    return names[0] if names else platform.processor() or platform.machine()
