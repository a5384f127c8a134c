# SPDX-License-Identifier: BSD-3-Clause
"""Files that a user gives besides programs: ValueError, with the file's name, for what is something else."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from pathlib import Path
from typing import TYPE_CHECKING, Any, TypeVar

import torch
from torch.export import ExportedProgram
from torch.utils import _pytree as pytree

from executorch.exir import schema
from executorch.exir.error import ExportError
from executorch.exir.program._etrecord import ETRecord, parse_etrecord

if TYPE_CHECKING:
    from executorch.devtools.inspector._events import Event

T = TypeVar("T")


def record(path: Path) -> ETRecord:
    return _read(path, parse_etrecord, "a record (.etrecord, ETRecord.save)")


def exported_program(path: Path) -> ExportedProgram:
    return _read(path, torch.export.load, "an exported program (.pt2, torch.export.save)")


def events(path: Path, record: ETRecord | None) -> list[Event]:
    """Of the executions that an ETDump holds."""
    from executorch.devtools.costs.timing import blocks_of, executed

    return _read(path, lambda dump: executed(blocks_of(dump, record)), "a run's events (.etdp)")


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


def copies(inputs: Any) -> Any:
    """The same structure with tensors of its own: models and programs may write to what they are given."""
    return pytree.tree_map_only(torch.Tensor, torch.clone, inputs)


def expected_outputs(
    module: torch.nn.Module,
    inputs: tuple[Any, ...],
    plan: schema.ExecutionPlan,
    keywords: Mapping[str, Any] | None = None,
) -> list[Any]:
    """What a program gives for a model and its inputs: those that it changes come before what it returns."""
    changed = copies((inputs, dict(keywords or {})))
    with torch.no_grad():
        returned = pytree.tree_leaves(module(*changed[0], **changed[1]))
    leaves = pytree.tree_leaves(changed)
    places = plan.outputs[: max(0, len(plan.outputs) - len(returned))]
    return [*(leaves[plan.inputs.index(place)] for place in places), *returned]


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
