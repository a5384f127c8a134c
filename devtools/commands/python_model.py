# SPDX-License-Identifier: BSD-3-Clause
"""A model as its Python makes it, exported; or all that torch.export would stop at, not only the first of it."""

from __future__ import annotations

import importlib
import importlib.util
import inspect
import sys
import traceback
from collections.abc import Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import torch
from torch.export import ExportedProgram

from executorch.exir.capture.diagnostics import Finding, NotExportable, export_module
from executorch.exir.capture.diagnostics.quiet import silent

# What torch.compile calls a reason, in words.
_REASONS = {
    "generic_jump": "a branch depends on the value of a tensor",
    "item": "a number is read out of a tensor",
    "tolist": "numbers are read out of a tensor",
    "builtin operator": "a function of Python that is not traced",
}


@dataclass(frozen=True)
class GraphBreak:
    """`line`: "file:number: source" of the user's code, empty when unknown."""

    what: str
    line: str


@dataclass(frozen=True)
class Refused:
    """`findings`: why torch.export takes none of it; `breaks`: behind that, where torch.compile breaks the graph: there
    it may stop next."""

    findings: tuple[Finding, ...]
    breaks: tuple[GraphBreak, ...]


@dataclass(frozen=True)
class PythonModel:
    """`module` with the arguments of a call; an exported program has its dynamic shapes. `keywords`: in the order
    of forward(), as programs take them behind the others."""

    module: torch.nn.Module | ExportedProgram
    inputs: tuple[Any, ...]
    dynamic_shapes: Any = None
    keywords: Mapping[str, Any] = field(default_factory=dict)

    @property
    def callable(self) -> torch.nn.Module:
        return self.module.module() if isinstance(self.module, ExportedProgram) else self.module


def is_python(spec: str) -> bool:
    """Whether it reads like "file.py:name" or "package.module:name"."""
    place, _, name = spec.rpartition(":")
    return bool(place) and name.isidentifier()


FORWARD = "forward"


def load(spec: str) -> PythonModel:
    """`name` is (module, inputs) or (module, inputs, dynamic shapes), inputs being a tuple, or a dictionary of those by
    keyword; an ExportedProgram; or a function without arguments that gives one of these. ValueError for others."""
    found = load_methods(spec)
    if [*found] != [FORWARD]:
        raise ValueError(f"{spec}: expected one model, found the methods {', '.join(found)}")
    return found[FORWARD]


def load_methods(spec: str) -> dict[str, PythonModel]:
    """`name` may also be a dictionary of such by the names of methods."""
    found = named(spec)
    is_model = isinstance(found, (torch.nn.Module, ExportedProgram))
    made = found() if callable(found) and not is_model else found
    methods = made if isinstance(made, dict) and made else {FORWARD: made}
    return {method: _model(one, spec) for method, one in methods.items()}


def named(spec: str) -> Any:
    """What a file or a module has under that name; None where it has nothing."""
    place, _, name = spec.rpartition(":")
    return getattr(_module(place), name, None)


def _model(made: Any, spec: str) -> PythonModel:
    if isinstance(made, ExportedProgram):
        return of_program(made, spec)
    if (
        not isinstance(made, tuple)
        or len(made) not in (2, 3)
        or not isinstance(made[0], torch.nn.Module)
        or not isinstance(made[1], (tuple, dict))
    ):
        raise ValueError(
            f"{spec}: expected (module, inputs), (module, inputs, dynamic_shapes), an ExportedProgram, a dictionary of "
            f"such by method, or a function that gives one, found {type(made).__name__}"
        )
    module, inputs, *shapes = made
    if isinstance(inputs, tuple):
        return PythonModel(module, inputs, *shapes)
    known = inspect.signature(module.forward).parameters
    unknown = [name for name in inputs if name not in known]
    if unknown:
        raise ValueError(
            f"{spec}: expected inputs of forward({', '.join(known)}), found {', '.join(unknown)}"
        )
    keywords = {name: inputs[name] for name in known if name in inputs}
    if shapes and isinstance(shapes[0], dict):  # torch.export asks for all of them
        shapes = [{name: shapes[0].get(name) for name in keywords}]
    return PythonModel(module, (), *shapes, keywords=keywords)


def of_program(program: ExportedProgram, spec: str) -> PythonModel:
    """With the inputs that it was exported with."""
    if program.example_inputs is None:
        raise ValueError(
            f"{spec}: expected example inputs in the program, found none: export it anew"
        )
    args, keywords = program.example_inputs
    return PythonModel(program, args, keywords=keywords)


def _module(place: str) -> Any:
    try:
        if not place.endswith(".py"):
            return importlib.import_module(place)
        spec = importlib.util.spec_from_file_location(_name(Path(place)), place)
        if spec is None or spec.loader is None:
            raise ValueError(f"{place}: expected a file of Python")
        module = importlib.util.module_from_spec(spec)
        sys.modules[spec.name] = module  # where tracing bytecode looks for its globals
        spec.loader.exec_module(module)
        return module
    except ImportError as problem:
        raise ValueError(f"{place}: {problem}") from problem


def _name(path: Path) -> str:
    """Of the file's module, which hides no other one."""
    known = sys.modules.get(path.stem)
    is_free = known is None or getattr(known, "__file__", None) == str(path)
    return path.stem if is_free else f"model_of_{path.stem}"


def export(model: PythonModel) -> ExportedProgram | Refused:
    if isinstance(model.module, ExportedProgram):
        return model.module
    with torch.no_grad(), silent():
        try:
            return export_module(
                model.module, model.inputs, model.keywords, dynamic_shapes=model.dynamic_shapes
            )
        except NotExportable as problem:
            known = {finding.line for finding in problem.findings}
            breaks = [each for each in _graph_breaks(model) if each.line not in known]
            return Refused(problem.findings, tuple(breaks))


def _graph_breaks(model: PythonModel) -> list[GraphBreak]:
    torch._dynamo.reset()
    try:
        explained = torch._dynamo.explain(model.module)(*model.inputs, **model.keywords)
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


def _line(frame: traceback.FrameSummary) -> str:
    place = f"{frame.filename}:{frame.lineno}"
    return f"{place}: {frame.line}" if frame.line else place


def _first_line(text: str) -> str:
    return next((line.strip() for line in text.splitlines() if line.strip()), "no reason is given")
