# SPDX-License-Identifier: BSD-3-Clause
"""The rates of this machine, or of a device: measured once, then kept in a file.

They come from small programs (probes.py) that run as any other does. They hold for one processor, one number of threads
and one release, on a device for one runner, too; `machine(backends, device)` reads them from
$XDG_CACHE_HOME/executorch (~/.cache/executorch), and measures, for a few seconds, what is not there.
"""

from __future__ import annotations

import json
import os
import re
from collections.abc import Mapping, Sequence
from dataclasses import asdict
from pathlib import Path

from executorch.devtools.costs.machine import KERNELS, Engine, Machine
from executorch.devtools.devices.here import Here
from executorch.devtools.devices.job import Device


def machine(backends: Sequence[str] = (), device: Device | None = None) -> Machine:
    """The device, or this machine, with rates of the kernels and of those backends that tools can lower for and that
    are there; see above."""
    from executorch.devtools.costs.probes import can_lower_for, measured

    device = device or Here()
    there, path = device.describe(), _file(device)
    try:
        known = {name: Engine(**rates) for name, rates in json.loads(path.read_text()).items()}
    except (OSError, ValueError, TypeError, AttributeError):
        known = {}
    has = [each for each in backends if there.backends is None or each in there.backends]
    wanted = (KERNELS, *filter(can_lower_for, has))
    missing = [name for name in wanted if name not in known]
    if missing:
        known |= {name: measured(name, device) for name in missing}
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


def _file(device: Device) -> Path:
    there = device.describe()
    home = Path(os.environ.get("XDG_CACHE_HOME") or Path.home() / ".cache")
    words = f"{device.processor} {there.threads} threads {there.version}"
    if not device.is_here:
        words = f"{device.name} {words} {device.identity}"
    return home / "executorch" / f"machine-{re.sub(r'[^A-Za-z0-9.]+', '-', words)}.json"
