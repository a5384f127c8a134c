# SPDX-License-Identifier: BSD-3-Clause
"""torch.export.export that says what is wrong. Only what fails is looked at more closely: the model runs once in
PyTorch, and is traced in the other ways, in which some of it may work."""

from __future__ import annotations

import copy
import re
from collections.abc import Mapping
from dataclasses import dataclass, field, replace
from typing import Any

import torch
from torch.export import ExportedProgram

from executorch.exir.capture.diagnostics import generated, places
from executorch.exir.capture.diagnostics.causes import (
    CAUSES,
    FAILS,
    GUARD,
    INPUT,
    OTHER,
    OUTPUT,
    TRAINING,
    Cause,
)
from executorch.exir.capture.diagnostics.containers import register_within, unknown_within
from executorch.exir.capture.diagnostics.finding import Finding, NotExportable
from executorch.exir.capture.diagnostics.places import Place
from executorch.exir.capture.diagnostics.quiet import silent, without_graphs
from executorch.exir.capture.diagnostics.statements import Code, statement_at

_OTHER_WAY = {
    True: "It exports as it stands with strict=True, which reads Python's bytecode",
    False: "It exports as it stands with strict=False, which runs Python once: what it draws is constant then",
}
_HOW = "(torch.export.export, ExportRecipe; `executorch export --strict` or `--no-strict`)"


def export_module(
    module: torch.nn.Module,
    args: tuple[Any, ...],
    kwargs: Mapping[str, Any] | None = None,
    *,
    dynamic_shapes: Any = None,
    strict: bool = False,
    name: str = "the model",
) -> ExportedProgram:
    """NotExportable, from torch's error, where torch.export fails. Classes of the inputs and outputs that hold tensors
    are registered where that is safe (containers.py), and stay so."""
    call = _Call(module, args, dict(kwargs or {}), dynamic_shapes)
    register_within((args, kwargs))
    try:
        with without_graphs():
            return call.export(strict)
    except Exception as problem:
        made = _with_outputs_registered(call, strict, problem)
        if isinstance(made, ExportedProgram):
            return made
        raise NotExportable(name, explain(made, call, strict)) from made


@dataclass
class _Call:
    module: torch.nn.Module
    args: tuple[Any, ...]
    kwargs: dict[str, Any]
    shapes: Any
    output: Any = field(default=None, init=False)

    def export(self, strict: bool) -> ExportedProgram:
        return torch.export.export(
            self.module, self.args, self.kwargs or None, dynamic_shapes=self.shapes, strict=strict
        )

    def fails(self, strict: bool) -> Exception | None:
        try:
            self.export(strict)
        except Exception as problem:
            return problem
        return None

    def run(self) -> Exception | None:
        """In PyTorch; buffers are afterwards as before."""
        state = [(each, each.detach().clone()) for each in self.module.buffers()]
        try:
            with torch.no_grad():
                problem = self._fails()
            if problem is None:
                return None
            with torch.enable_grad():  # the model may compute gradients
                return problem if self._fails() is not None else None
        finally:
            with torch.no_grad():
                for each, value in state:
                    each.copy_(value)

    def _fails(self) -> Exception | None:
        args, kwargs = torch.utils._pytree.tree_map(_copied, (self.args, self.kwargs))
        try:
            self.output = self.module(*args, **kwargs)
        except Exception as problem:
            return problem
        return None


def _copied(value: Any) -> Any:
    """Models write into tensors and caches that they are given."""
    if isinstance(value, torch.Tensor):
        return value.detach().clone()
    try:
        return copy.deepcopy(value)
    except Exception:  # of a class that cannot be copied
        return value


def _with_outputs_registered(
    call: _Call, strict: bool, problem: Exception
) -> ExportedProgram | Exception:
    """The program, or the error that is left."""
    text = str(problem)
    if "in output, which is not a known type" not in text and "at output" not in text:
        return problem
    with silent():
        if call.run() is not None or not register_within(call.output):
            return problem
    with without_graphs():
        try:
            return call.export(strict)
        except Exception as another:
            return another


def explain(problem: Exception, call: _Call, strict: bool) -> list[Finding]:
    """Findings for an error of torch.export; train mode first."""
    module = call.module
    with silent():
        if not any(each.training for each in module.modules()):
            return [_explained(problem, call, strict)]
        modes = [(each, each.training) for each in module.modules()]
        try:
            for each, _ in modes:
                each.training = False  # eval() is refused by graphs of torch.export
            still = call.fails(strict)
            if still is None:
                return [_training(problem, True)]
            found = _explained(still, call, strict)
            return [_training(problem, False), found] if _has_modes(module) else [found]
        finally:
            for each, is_training in modes:
                each.training = is_training


def _has_modes(module: torch.nn.Module) -> bool:
    """Whether a layer computes something else while it is trained."""
    dropout, norm = torch.nn.modules.dropout._DropoutNd, torch.nn.modules.batchnorm._NormBase
    return any(
        isinstance(each, dropout | norm | torch.nn.RReLU) or getattr(each, "dropout", 0)
        for each in module.modules()
    )


def _training(problem: Exception, is_cause: bool) -> Finding:
    found = Finding(TRAINING.name, TRAINING.title, TRAINING.advice, code="model.eval()")
    if not is_cause:
        return found
    place = places.place_of(problem)
    return replace(
        found,
        advice=f"{found.advice} In eval mode it exports: what torch says of this line follows from the mode.",
        place=str(place or ""),
        source=place.source if place else "",
        torch_text=_first_line(problem),
    )


def _explained(problem: Exception, call: _Call, strict: bool) -> Finding:
    failure = call.run()
    if failure is not None:
        return _finding(failure, call, places.of_eager(failure), True)
    found = _finding(problem, call, places.place_of(problem), False, strict)
    if found.cause in _NOT_OF_TRACING or call.fails(not strict) is not None:
        return found
    return replace(found, advice=f"{found.advice} {_OTHER_WAY[not strict]} {_HOW}.")


_NOT_OF_TRACING = (
    "arguments",
    "dynamic_shapes",
    "fixed size",
    "equal sizes",
    "range of a size",
    "example of size one",
)


def _finding(
    problem: Exception,
    call: _Call,
    traced: Place | None,
    of_model: bool,
    strict: bool = False,
) -> Finding:
    text = f"{type(problem).__name__}: {problem}"
    if any(isinstance(each, torch.jit.ScriptModule) for each in call.module.modules()):
        text += " (with a ScriptModule)"  # torch's text does not say so
    cause, named = _cause(text, traced, of_model)
    place = _place(cause, text, call, strict) or traced
    code = _code(cause, place, call, problem, named)
    return Finding(
        cause.name,
        cause.title.format(named=named),
        cause.advice,
        str(place) if place else "",
        place.source if place else "",
        code.text if code else "",
        code.lines if code else None,
        _first_line(problem),
    )


def _cause(text: str, place: Place | None, of_model: bool) -> tuple[Cause, str]:
    """The row, and what its pattern names."""
    source = place.source if place else ""
    statement = statement_at(place) if place else None
    if statement is not None:
        end = statement.node.end_lineno or statement.node.lineno
        source = statement.source(statement.node.lineno, end).strip()
    for cause in CAUSES:
        match = re.search(cause.says, text)
        if match is None or (of_model and not cause.of_model):
            continue
        if not cause.at or re.search(cause.at, source):
            return cause, next((value for value in match.groupdict().values() if value), "")
    return (FAILS if of_model else OTHER), ""


def _place(cause: Cause, text: str, call: _Call, strict: bool) -> Place | None:
    """Where it is not where the error comes from."""
    if cause.where == GUARD:
        made = places.of_guard(lambda: call.export(strict), text)
        return made or places.of_input(call.module)
    if cause.where == INPUT:
        return places.of_input(call.module)
    return places.of_output(call.module) if cause.where == OUTPUT else None


def _code(
    cause: Cause, place: Place | None, call: _Call, problem: Exception, named: str
) -> Code | None:
    if cause.code_of == "shapes":
        return generated.shapes(problem, call.shapes)
    if cause.code_of == "class":
        unknown = unknown_within((call.args, call.kwargs, call.output))
        return generated.registration(unknown, named)
    if cause.code_of == "operator":
        return generated.fake(named)
    statement = statement_at(place) if place and cause.mend else None
    if statement is None or cause.mend is None:
        return None
    try:
        return cause.mend(statement)
    except (ValueError, SyntaxError):  # a form of Python that the table does not know
        return None


def _first_line(problem: Exception) -> str:
    line = next((line.strip() for line in str(problem).splitlines() if line.strip()), "")
    return f"{type(problem).__name__}: {line}"
