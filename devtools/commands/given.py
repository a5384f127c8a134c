# SPDX-License-Identifier: BSD-3-Clause
"""Files that a user gives besides programs: ValueError, with the file's name, for what is something else."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from typing import Any, TypeVar

import torch
from torch.export import ExportedProgram

from executorch.exir.error import ExportError
from executorch.exir.program._etrecord import ETRecord, parse_etrecord

T = TypeVar("T")


def record(path: Path) -> ETRecord:
    return _read(path, parse_etrecord, "a record (.etrecord, ETRecord.save)")


def exported_program(path: Path) -> ExportedProgram:
    return _read(path, torch.export.load, "an exported program (.pt2, torch.export.save)")


def recorded_inputs(record: ETRecord, program: Any) -> tuple[Any, ...] | None:
    """The representative ones, or those that a program of the record was exported with; None without either."""
    if record._representative_inputs is not None:
        return tuple(record._representative_inputs)
    examples = program.example_inputs if isinstance(program, ExportedProgram) else None
    return tuple(examples[0]) if examples is not None else None


def inputs(path: Path) -> tuple[Any, ...]:
    found = _read(path, torch.load, "a tuple of inputs (torch.save)")
    if not isinstance(found, (tuple, list)):
        raise ValueError(f"{path}: expected a tuple of inputs, found {type(found).__name__}")
    return tuple(found)


def _read(path: Path, read: Callable[[Path], T], expected: str) -> T:
    try:
        return read(path)
    except (OSError, ExportError):
        raise
    except Exception as problem:  # zip archives, pickles and JSON have their own
        lines = str(problem).splitlines() or [""]
        reason = f"{type(problem).__name__}: {lines[0]}"
        raise ValueError(
            f"{path}: expected {expected}, found something else: {reason}"
        ) from problem
