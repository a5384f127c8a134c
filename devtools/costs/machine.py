# SPDX-License-Identifier: BSD-3-Clause
"""How fast this machine does each kind of work, on the kernels and on a backend: measured once, then kept in a file.

The rates come from small programs (probes.py) that run as any other does. They hold for one processor, one number of
threads and one release; `machine(backends)` reads them from $XDG_CACHE_HOME/executorch (~/.cache/executorch), and
measures, for a few seconds, what is not there.
"""

from __future__ import annotations

import json
import math
import os
import platform
import re
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import asdict, dataclass, field
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


def machine(backends: Sequence[str] = ()) -> Machine:
    """This machine, with rates of the kernels and of those backends that tools can lower for; see above."""
    from executorch.devtools.costs.probes import can_lower_for, measured

    path = _file()
    try:
        known = {name: Engine(**rates) for name, rates in json.loads(path.read_text()).items()}
    except (OSError, ValueError, TypeError, AttributeError):
        known = {}
    wanted = (KERNELS, *filter(can_lower_for, backends))
    missing = [name for name in wanted if name not in known]
    if missing:
        known |= {name: measured(name) for name in missing}
        _keep(path, known)
    return Machine(known)


def _keep(path: Path, engines: Mapping[str, Engine]) -> None:
    """At once or not at all; where nothing can be written it is measured again the next time."""
    text = json.dumps({name: asdict(engine) for name, engine in engines.items()}, indent=1)
    beside = path.with_suffix(f".{os.getpid()}")
    try:
        path.parent.mkdir(parents=True, exist_ok=True)
        beside.write_text(text)
        beside.replace(path)
    except OSError:
        beside.unlink(missing_ok=True)


def _file() -> Path:
    from executorch.extension.pybindings.portable_lib import _threadpool_get_thread_count
    from executorch.version import __version__

    home = Path(os.environ.get("XDG_CACHE_HOME") or Path.home() / ".cache")
    words = f"{processor()} {_threadpool_get_thread_count()} threads {__version__}"
    return home / "executorch" / f"machine-{re.sub(r'[^A-Za-z0-9.]+', '-', words)}.json"


def processor() -> str:
    """The name of this machine's processor."""
    path = Path("/proc/cpuinfo")
    lines = path.read_text().splitlines() if path.exists() else []
    names = [line.partition(":")[2].strip() for line in lines if line.startswith("model name")]
    return names[0] if names else platform.processor() or platform.machine()
