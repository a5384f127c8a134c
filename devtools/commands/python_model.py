# SPDX-License-Identifier: BSD-3-Clause
"""A model as its Python makes it, exported; or all that torch.export would stop at, not only the first of it."""

from __future__ import annotations

import contextlib
import importlib
import importlib.util
import io
import logging
import traceback
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import torch
from torch.export import ExportedProgram

# What torch.compile calls a reason, in words.
_REASONS = {
    "generic_jump": "a branch depends on the value of a tensor",
    "item": "a number is read out of a tensor",
    "tolist": "numbers are read out of a tensor",
    "builtin operator": "a function of Python that is not traced",
}
_OF_TORCH = str(Path(torch.__file__).parent)


@dataclass(frozen=True)
class GraphBreak:
    """`line`: "file:number: source" of the user's code, empty when unknown."""

    what: str
    line: str


@dataclass(frozen=True)
class PythonModel:
    module: torch.nn.Module
    inputs: tuple[Any, ...]
    dynamic_shapes: Any = None


def is_python(spec: str) -> bool:
    """Whether it reads like "file.py:name" or "package.module:name"."""
    place, _, name = spec.rpartition(":")
    return bool(place) and name.isidentifier()


def load(spec: str) -> PythonModel:
    """`name` is (module, inputs) or (module, inputs, dynamic shapes), or a function without arguments that gives it.
    ValueError for anything else."""
    place, _, name = spec.rpartition(":")
    found = getattr(_module(place), name, None)
    made = found() if callable(found) and not isinstance(found, torch.nn.Module) else found
    if (
        not isinstance(made, tuple)
        or len(made) not in (2, 3)
        or not isinstance(made[0], torch.nn.Module)
        or not isinstance(made[1], tuple)
    ):
        raise ValueError(
            f"{spec}: expected (module, inputs) or (module, inputs, dynamic_shapes), or a function that gives it, "
            f"found {type(made).__name__}"
        )
    return PythonModel(*made)


def _module(place: str) -> Any:
    try:
        if not place.endswith(".py"):
            return importlib.import_module(place)
        spec = importlib.util.spec_from_file_location(Path(place).stem, place)
        if spec is None or spec.loader is None:
            raise ValueError(f"{place}: expected a file of Python")
        module = importlib.util.module_from_spec(spec)
        spec.loader.exec_module(module)
        return module
    except ImportError as problem:
        raise ValueError(f"{place}: {problem}") from problem


def export(model: PythonModel) -> ExportedProgram | list[GraphBreak]:
    """Else what torch.export stops at, and behind it where torch.compile breaks the graph: there it may stop next."""
    with torch.no_grad(), _quiet():
        try:
            return torch.export.export(
                model.module, model.inputs, dynamic_shapes=model.dynamic_shapes
            )
        except Exception as problem:  # of the user's code, too
            stops = _of_error(problem)
            breaks = _graph_breaks(model)
    return [stops, *(each for each in breaks if each.line != stops.line)]


def _graph_breaks(model: PythonModel) -> list[GraphBreak]:
    torch._dynamo.reset()
    try:
        explained = torch._dynamo.explain(model.module)(*model.inputs)
    except (
        Exception
    ):  # the model itself fails on these inputs, which the error of torch.export says
        return []
    found = {}
    for each in explained.break_reasons:
        if each.user_stack:
            frame = each.user_stack[-1]
            line = _line(frame)
            found[line] = GraphBreak(_in_words(each.reason), line)
    return list(found.values())


def _in_words(reason: str) -> str:
    first = _first_line(reason)
    return next((words for start, words in _REASONS.items() if start in first), first)


def _of_error(problem: Exception) -> GraphBreak:
    frames = [
        frame
        for frame in traceback.extract_tb(problem.__traceback__)
        if not frame.filename.startswith((_OF_TORCH, "<")) and frame.filename != __file__
    ]
    line = _line(frames[-1]) if frames else ""
    return GraphBreak(f"{type(problem).__name__}: {_first_line(str(problem))}", line)


def _line(frame: traceback.FrameSummary) -> str:
    place = f"{frame.filename}:{frame.lineno}"
    return f"{place}: {frame.line}" if frame.line else place


def _first_line(text: str) -> str:
    return next((line.strip() for line in text.splitlines() if line.strip()), "no reason is given")


@contextlib.contextmanager
def _quiet() -> Iterator[None]:
    """The model may print, and torch prints and logs what it finds."""
    disabled = logging.root.manager.disable
    logging.disable(logging.CRITICAL)
    try:
        with contextlib.redirect_stdout(io.StringIO()), contextlib.redirect_stderr(io.StringIO()):
            yield
    finally:
        logging.disable(disabled)
