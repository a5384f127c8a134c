# SPDX-License-Identifier: BSD-3-Clause
"""The rates of this machine: measured once, then kept in a file.

They come from small programs (probes.py) that run as any other does. They hold for one processor, one number of threads
and one release; `machine(backends)` reads them from $XDG_CACHE_HOME/executorch (~/.cache/executorch), and measures, for
a few seconds, what is not there.
"""

from __future__ import annotations

import json
import os
import re
from collections.abc import Mapping, Sequence
from dataclasses import asdict
from pathlib import Path

from executorch.devtools.costs.machine import KERNELS, Engine, Machine, processor


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
