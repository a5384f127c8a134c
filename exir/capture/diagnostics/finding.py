# SPDX-License-Identifier: BSD-3-Clause
"""What keeps a model from being exported, as data and as text; and the error that carries it."""

from __future__ import annotations

import os
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from textwrap import dedent, indent

from executorch.exir.error import ExportError, ExportErrorType

_TEXT_LENGTH = 200


@dataclass(frozen=True)
class Finding:
    """`cause`: name of a row of causes.py; `place`: "file:line" of the user's code and `source` that line, empty when
    unknown; `torch_text`: what torch says. `code`: to paste instead of the lines `replaces` of that file,
    or before the export where that is None."""

    cause: str
    title: str
    advice: str
    place: str = ""
    source: str = ""
    code: str = ""
    replaces: tuple[int, int] | None = None
    torch_text: str = ""

    @property
    def line(self) -> str:
        return f"{self.place}: {self.source}" if self.source else self.place

    def as_text(self) -> str:
        parts = [self.title]
        if self.line:
            parts.append(f"  {self.line.removeprefix(f'{Path.cwd()}{os.sep}')}")
        parts.append(f"  {self.advice}")
        if self.code:
            parts.append(f"  {self._where()}:\n{indent(dedent(self.code), '      ')}")
        if self.torch_text:
            parts.append(f"  (torch: {self.torch_text[:_TEXT_LENGTH]})")
        return "\n".join(parts)

    def _where(self) -> str:
        if self.replaces is None:
            return "before the export"
        first, last = self.replaces
        return (
            f"instead of line {first}" if first == last else f"instead of lines {first} to {last}"
        )


class NotExportable(ExportError, RuntimeError):
    """torch.export refuses the model. `findings`: the cause, and before it what else is wrong; torch's own error, in
    full, is `__cause__`."""

    def __init__(self, name: str, findings: Sequence[Finding]) -> None:
        self.findings = tuple(findings)
        text = "\n".join(each.as_text() for each in self.findings)
        super().__init__(ExportErrorType.NOT_SUPPORTED, f"{name} does not export: {text}")
