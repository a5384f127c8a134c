# SPDX-License-Identifier: BSD-3-Clause
"""ExecuTorch: from a PyTorch model to a `.pte` file that a small C++ runtime runs.

The importable folders of the repository root appear here under one package; `executorch.exir` and, from
the repository root, `exir` are the same module (see `_alias`).
"""

from typing import Any

from executorch._quiet import quieten_own_command

quieten_own_command()


def __getattr__(name: str) -> Any:
    """`import executorch; executorch.export(...)` works; the compiler loads when it is asked for."""
    import importlib

    if name == "export":
        return importlib.import_module("executorch.export")
    if name == "__version__":
        return importlib.import_module("executorch.version").__version__
    raise AttributeError(f"module {__name__!r} has no attribute {name!r}", name=name)
