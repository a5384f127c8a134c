# SPDX-License-Identifier: BSD-3-Clause
"""What another maker's compiler is given, as files: where a user wants them, and where the compiler is missing."""

from __future__ import annotations

import tempfile
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from pathlib import Path

from torch.export import ExportedProgram

from executorch.exir.backend._partitions import TAG
from executorch.exir.backend.lowering.external.compiler import MissingCompiler
from executorch.exir.error import ExportErrorType

_UNTAGGED = "tag0"


@dataclass(frozen=True)
class Intermediate:
    """What a compiler is given, as a file: `name`, for `folder`, or a new one where it is missing."""

    name: str
    data: bytes
    folder: Path | None = None


def keep(files: Iterable[Intermediate], what: str, why_missing: str = "") -> None:
    """Writes files for which a user named a folder. Where the compiler is missing all are written, and MissingCompiler
    says where; `what`: such as "TFLite models"."""
    made: Path | None = None
    folders: set[str] = set()
    for each in files:
        if each.folder is None and why_missing and made is None:
            made = Path(tempfile.mkdtemp(prefix="executorch-intermediates-"))
        folder = each.folder or made
        if folder is not None:
            folders.add(str(folder))
            (folder / each.name).write_bytes(each.data)
    if why_missing and folders:
        raise MissingCompiler(
            ExportErrorType.MISSING_PROPERTY,
            f"{why_missing}. The {what} that it is to compile are in {', '.join(sorted(folders))}",
        )


def tag_of(program: ExportedProgram) -> str:
    found = (node.meta.get(TAG) for node in program.graph.nodes)
    return next(filter(None, found), _UNTAGGED)


def tags_of(programs: Sequence[ExportedProgram]) -> list[str]:
    """With a number where several methods have the same."""
    tags: list[str] = []
    for tag in map(tag_of, programs):
        count = sum(each.partition(".")[0] == tag for each in tags)
        tags.append(f"{tag}.{count}" if count else tag)
    return tags
