# SPDX-License-Identifier: BSD-3-Clause
"""Runs passes in order, with checks after each: over a graph module, or over a whole program."""

from __future__ import annotations

import inspect
import warnings
from collections.abc import Callable, Iterable
from contextlib import nullcontext
from typing import Any

import torch
from torch._export.verifier import Verifier
from torch._guards import detect_fake_mode
from torch.export import ExportedProgram
from torch.fx import GraphModule
from torch.fx.node import map_arg
from torch.fx.passes.infra.pass_base import PassBase, PassResult
from torch.fx.passes.infra.pass_manager import PassManager as _FxPassManager
from torch.fx.passes.infra.pass_manager import pass_result_wrapper

from executorch.exir.error import ExportError, ExportErrorType
from executorch.exir.pass_base import (
    ExportedProgramPassBase,
    ExportedProgramPassResult,
    ExportPass,
    PassType,
)
from executorch.exir.program_copies import signature_for, with_graph_module
from executorch.exir.retrace.held_program import HeldProgram
from executorch.exir.retrace.lifted_constants import lift_tensor_attributes

__all__ = ["ExportedProgramPassManager", "PassManager", "PassType"]


def _flat(passes: Iterable[Any] | None) -> list[Any]:
    """Passes from a list of passes or of lists of them."""
    result: list[Any] = []
    for one in passes or []:
        result.extend(one) if isinstance(one, list | tuple) else result.append(one)
    return result


def _graph_pass(one: Any) -> Any:
    """A function may return None, and so may a PassBase: it has changed the graph in place, perhaps."""
    may_give_none = inspect.isfunction(one) or (
        isinstance(one, PassBase) and not isinstance(one, ExportPass)
    )
    return pass_result_wrapper(one) if may_give_none else one


def _check_graph(module: GraphModule) -> None:
    module.recompile()
    module.graph.lint()
    for node in module.graph.nodes:
        if node.op == "call_method":
            raise ExportError(
                ExportErrorType.NOT_SUPPORTED,
                f"call_method `{node.target}` is not supported: node {node.format_node()}; write a call of a torch "
                "operator (torch.ops...) in its place",
            )


class PassManager(_FxPassManager):
    """`passes` run `steps` times in order, or until nothing changes. `run_checks_after_each_pass`: `check` and the
    checks added with `add_checks` run after each pass, else the latter once at the end; `suppress_check_failures`
    turns a failing one into a warning."""

    def __init__(
        self,
        passes: list[PassType] | list[list[PassType]] | None = None,
        run_checks_after_each_pass: bool = False,
        suppress_check_failures: bool = False,
        steps: int = 1,
    ) -> None:
        super().__init__(
            passes=[_graph_pass(one) for one in _flat(passes)],
            run_checks_after_each_pass=run_checks_after_each_pass,
            suppress_check_failures=suppress_check_failures,
            steps=steps,
        )
        self._own_checks: list[Callable[[GraphModule], None]] = []
        self._is_changed = False

    def __call__(self, module: GraphModule) -> PassResult:
        self._is_changed = False
        result = super().__call__(module)
        if not self.run_checks_after_each_pass:
            self.check(result.graph_module)
        return result

    def add_checks(self, check: Callable[[GraphModule], None]) -> None:
        if len(inspect.signature(check).parameters) != 1:
            raise TypeError("expected a check with one argument, the graph module")
        self._own_checks.append(check)

    def check(self, module: GraphModule) -> None:
        try:
            _check_graph(module)
            # The first call sees the graph before any pass: what passes shall make true is not true yet.
            for check in self._own_checks if self._is_changed else ():
                check(module)
        except Exception as failure:
            if not self.suppress_check_failures:
                raise
            warnings.warn(f"a check failed after a pass: {failure}", stacklevel=3)
        finally:
            self._is_changed = True


class ExportedProgramPassManager(_FxPassManager):
    """The same over programs: takes passes over graph modules and over programs. They see the given program itself,
    which passes that work in place change; the result is another object."""

    def __init__(
        self,
        passes: list[PassType] | list[list[PassType]] | None = None,
        constraints: list[Callable[[Callable[..., Any], Callable[..., Any]], bool]] | None = None,
        run_checks_after_each_pass: bool = False,
        suppress_check_failures: bool = False,
        steps: int = 1,
    ) -> None:
        super().__init__(
            passes=_flat(passes),
            constraints=constraints,
            run_checks_after_each_pass=run_checks_after_each_pass,
            suppress_check_failures=suppress_check_failures,
            steps=steps,
        )

    def check(self, exported_program: ExportedProgram) -> None:
        """What must hold after each pass; a subclass may say more."""
        _check_graph(exported_program.graph_module)
        exported_program.validate()

    def __call__(
        self,
        exported_program: ExportedProgram,
        override_verifiers: list[type[Verifier]] | None = None,
    ) -> ExportedProgramPassResult:
        if not self._validated:
            self.solve_constraints()
        program, modified = exported_program, False
        held = HeldProgram(exported_program)
        for _ in range(self.steps):
            program, changed = self._run_once(program, held)
            modified = modified or changed
            if not changed:
                break
        if program is exported_program and (modified or override_verifiers is not None):
            program = with_graph_module(program, program.graph_module)
        if override_verifiers is not None:
            program._verifiers = list(override_verifiers)
        return ExportedProgramPassResult(program, modified)

    def _run_once(
        self, program: ExportedProgram, held: HeldProgram
    ) -> tuple[ExportedProgram, bool]:
        modified, done = False, []
        for one in self.passes:
            name = (
                one.__name__
                if inspect.isroutine(one) or inspect.isclass(one)
                else type(one).__name__
            )
            try:
                program, changed = run_pass(program, one, held)
                if self.run_checks_after_each_pass:
                    self.check(program)
            except Exception as failure:
                raise Exception(
                    f"An error occurred when running the '{name}' pass after the following passes: {done}: {failure}"
                ) from failure
            modified = modified or changed
            done.append(name)
        return program, modified


def run_pass(
    program: ExportedProgram, one: Any, held: HeldProgram | None = None
) -> tuple[ExportedProgram, bool]:
    """One pass (or a class of passes) over `program`, which it may change; the program after it, and whether it is
    another. `held`: the program that the pass may have been made with."""
    one = one() if inspect.isclass(one) else one
    result = one(program) if isinstance(one, ExportedProgramPassBase) else one(program.graph_module)
    if isinstance(result, ExportedProgramPassResult):
        return _finished(result.exported_program), bool(result.modified)
    if not isinstance(result, PassResult | None):
        raise TypeError(
            f"The result of pass {one} should be type PassResult or None, found a {type(result).__name__}"
        )
    graph_module = program.graph_module if result is None else result.graph_module
    if held is not None:
        held.carry_over(program, graph_module)
    return _with_graph(program, graph_module), result is None or bool(result.modified)


def _with_graph(program: ExportedProgram, graph_module: GraphModule) -> ExportedProgram:
    """`program` itself when a pass has worked in place, else over the new graph."""
    if graph_module is program.graph_module:
        program._graph_signature = signature_for(program.graph_signature, graph_module)
        return _finished(program)
    return _finished(with_graph_module(program, graph_module))


def _finished(program: ExportedProgram) -> ExportedProgram:
    """With tensors of the graph module as data, and values for all nodes."""
    lift_tensor_attributes(program)
    _restore_values(program.graph_module)
    return program


def _restore_values(graph_module: GraphModule) -> None:
    """Computes `meta["val"]` of nodes that a pass has added without one (torch's subgraph rewriter does)."""
    nodes = graph_module.graph.nodes
    if all("val" in node.meta or node.op in ("output", "get_attr") for node in nodes):
        return
    mode = detect_fake_mode([n.meta.get("val") for n in nodes])
    for node in nodes:
        if "val" in node.meta or node.op != "call_function":
            continue
        args, kwargs = map_arg((node.args, node.kwargs), lambda n: n.meta["val"])
        with mode or nullcontext(), torch.no_grad():
            node.meta["val"] = node.target(*args, **kwargs)
