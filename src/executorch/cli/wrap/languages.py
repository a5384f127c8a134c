# SPDX-License-Identifier: BSD-3-Clause
"""The languages of `executorch wrap`: a row and a module each."""

from __future__ import annotations

from importlib import import_module
from typing import TYPE_CHECKING, Protocol

if TYPE_CHECKING:
    from executorch.cli.wrap.names import Traits
    from executorch.cli.wrap.program import Program

# `--lang` -> the module that writes the language.
_HERE = "executorch.cli.wrap"
MODULES = {
    "python": f"{_HERE}.python",
    "cpp": f"{_HERE}.cpp",
    "kotlin": f"{_HERE}.kotlin",
    "swift": f"{_HERE}.swift",
    "ts": f"{_HERE}.typescript",
}
NAMES = tuple(MODULES)


class Language(Protocol):
    TRAITS: Traits

    def file_name(self, program: Program) -> str: ...

    def class_text(self, program: Program) -> str: ...

    def main_text(self, program: Program, module: str) -> str:
        """A program that calls each method once; `module`: the stem of the class's file."""
        ...


def language(name: str) -> Language:
    return import_module(MODULES[name])  # type: ignore[return-value]
