# SPDX-License-Identifier: BSD-3-Clause
"""What this package is and has. Nothing is imported but the runtime."""

from __future__ import annotations

import os
import platform
from importlib import metadata


def version() -> str:
    from executorch.devtools.costs.machine import processor
    from executorch.runtime import Runtime
    from executorch.version import __version__

    runtime = Runtime.get()
    backends = runtime.backend_registry.registered_backend_names
    operators = runtime.operator_registry.operator_names
    rows = {
        "backends": ", ".join(sorted(backends)) or "none",
        "kernels": f"{len(set(operators))} operators",
        "processor": f"{processor()}, {os.cpu_count()} threads",
        "Python": platform.python_version(),
        "torch": _installed("torch"),
        "torchao": _installed("torchao"),
    }
    width = max(map(len, rows)) + 2
    lines = [f"  {name.ljust(width)}{value}" for name, value in rows.items()]
    return "\n".join([f"executorch {__version__}", *lines])


def _installed(package: str) -> str:
    try:
        return metadata.version(package)
    except metadata.PackageNotFoundError:
        return "not installed"
