# SPDX-License-Identifier: BSD-3-Clause
"""`ExternalTool`: another maker's compiler that is a program, whose packages do not fit our environment. A backend's
`tools-requirements.txt` names them; the setup of the source tree installs them into `.venv/tools/<backend>`.

A program is looked for in the environment that EXECUTORCH_TOOLS_<BACKEND> names, such as
EXECUTORCH_TOOLS_ARM=/opt/arm (with `bin` in it), then in `.venv/tools/<backend>`, then beside this Python, whose
environment need not be activated, then on PATH."""

from __future__ import annotations

import os
import shutil
import sys
from dataclasses import dataclass
from importlib import metadata
from pathlib import Path

from executorch.exir.backend.lowering.external.compiler import ExternalCompiler


def variable_of(backend: str) -> str:
    return f"EXECUTORCH_TOOLS_{backend.upper()}"


def tool_path(backend: str, tool: str) -> Path | None:
    """Where a program of a backend's tools is; None where it is not."""
    named = os.environ.get(variable_of(backend))
    environments = [Path(named)] if named else []
    environments += [Path(sys.prefix) / "tools" / backend, Path(sys.prefix)]
    for each in environments:
        found = each / "bin" / tool
        if os.access(found, os.X_OK):
            return found
    on_path = shutil.which(tool)
    return Path(on_path) if on_path else None


def tool_version(path: Path, distribution: str) -> str:
    """Of the package that a program came with; empty when that is not known."""
    libraries = [
        str(each) for each in path.resolve().parent.parent.glob("lib/python3*/site-packages")
    ]
    if not libraries:
        libraries = [str(each) for each in path.parent.parent.glob("lib/python3*/site-packages")]
    found = list(metadata.distributions(name=distribution, path=libraries)) if libraries else []
    return found[0].version if found else ""


@dataclass(frozen=True)
class ExternalTool(ExternalCompiler):
    """`tool`: the program's name; `backend`: of the folder whose tools have it."""

    backend: str = ""
    tool: str = ""

    def path(self) -> Path:
        self.require()
        return tool_path(self.backend, self.tool)  # type: ignore[return-value]  # require() looked

    def version(self) -> str:
        found = tool_path(self.backend, self.tool)
        return "" if found is None else tool_version(found, self.distribution)

    def how_to_get(self) -> str:
        return (
            f"install it beside this package (pip install '{self.distribution}{self.wanted}'), or in an environment "
            f"of its own that {variable_of(self.backend)} names"
        )
