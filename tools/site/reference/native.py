# SPDX-License-Identifier: BSD-3-Clause
"""Stand-ins for native modules that were not built, so that pages are made in a checkout without a compiler's minutes.

Names that are theirs have no text then; `lacking` collects them, and their pages say so.
"""

from __future__ import annotations

import subprocess
import sys
from collections.abc import Sequence
from importlib.abc import Loader, MetaPathFinder
from importlib.machinery import EXTENSION_SUFFIXES, ModuleSpec
from importlib.util import spec_from_file_location
from pathlib import Path
from types import ModuleType
from typing import Any

MODULES = (
    "executorch.exir._native",
    "executorch.extension.llm.runner._llm_runner",
    "executorch.extension.pybindings._portable_lib",
    "executorch.extension.pybindings.data_loader",
    "executorch.extension.training.pybindings._training_lib",
)
# Written by the build from the schema of programs.
SCHEMA = "executorch.exir.schema"

lacking: list[str] = []


class _Kind(type):
    """Of a name that is not there: members of an enumeration are instances, as defaults of parameters are."""

    def __getattr__(cls, name: str) -> Any:
        if name.startswith("__"):
            raise AttributeError(name)
        return cls()


class _StandIn(ModuleType):
    def __getattr__(self, name: str) -> type:
        if name.startswith("__"):
            raise AttributeError(name)
        bases = (Exception,) if name.endswith("Error") else ()
        made = _Kind(name, bases, {"__module__": self.__name__, "__repr__": lambda _: name})
        setattr(self, name, made)
        return made


class Finder(MetaPathFinder, Loader):
    def __init__(self, modules: Sequence[str], schema: Path | None) -> None:
        self._modules, self._schema = modules, schema

    def find_spec(self, name: str, path: Any = None, target: Any = None) -> ModuleSpec | None:
        if name == SCHEMA and self._schema:
            return spec_from_file_location(name, self._schema)
        return ModuleSpec(name, self) if name in self._modules else None

    def create_module(self, spec: ModuleSpec) -> ModuleType:
        return _StandIn(spec.name)

    def exec_module(self, module: ModuleType) -> None:
        pass


def _place(root: Path, module: str) -> Path:
    return root.joinpath(*module.split(".")[1:])


def missing(root: Path) -> list[str]:
    return [
        module
        for module in MODULES
        if not any(
            (_place(root, module).parent / f"{_place(root, module).name}{suffix}").is_file()
            for suffix in EXTENSION_SUFFIXES
        )
    ]


def finder(root: Path, folder: Path) -> Finder | None:
    """For sys.meta_path; None where all is built. What it makes goes into the folder."""
    schema = None
    if not _place(root, SCHEMA).with_suffix(".py").is_file():
        folder.mkdir(parents=True, exist_ok=True)
        schema = folder / "schema.py"
        generator = root / "exir/_serialize/schema_generator.py"
        command = [sys.executable, generator, root / "schema/program.fbs", schema]
        subprocess.run(list(map(str, command)), check=True)
    modules = missing(root)
    return Finder(modules, schema) if modules or schema else None


def is_stand_in(found: Any) -> bool:
    return isinstance(found, _Kind)
