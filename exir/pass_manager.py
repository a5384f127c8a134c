# SPDX-License-Identifier: BSD-3-Clause
"""Runs passes in order, with checks after each: over a graph module, or over a whole program."""

from __future__ import annotations

import inspect
from collections.abc import Callable, Iterable
from typing import Any

from torch._export.verifier import Verifier
from torch.export import ExportedProgram
from torch.fx import GraphModule
from torch.fx.passes.infra.pass_base import PassResult
from torch.fx.passes.infra.pass_manager import PassManager as _FxPassManager

from executorch.exir.error import ExportError, ExportErrorType
from executorch.exir.pass_base import (
    ExportedProgramPassBase,
    ExportedProgramPassResult,
    PassType,
)
from executorch.exir.program_copies import own_copy

AnyPass = ExportedProgramPassBase | PassType


def _flat(passes: Iterable[Any] | None) -> list[Any]:
    """Passes from a list of passes or of lists of them."""
    result: list[Any] = []
    for one in passes or []:
        result.extend(one) if isinstance(one, list | tuple) else result.append(one)
    return result


class PassManager(_FxPassManager):
    """`passes` run `steps` times in order. `run_checks_after_each_pass`: the checks added with `add_checks` run after
    each pass, else once at the end; `suppress_check_failures` turns a failing check into a warning."""

    def __init__(
        self,
        passes: list[AnyPass] | list[list[AnyPass]] | None = None,
        run_checks_after_each_pass: bool = False,
        suppress_check_failures: bool = False,
        steps: int = 1,
    ) -> None:
        super().__init__(
            passes=_flat(passes),
            run_checks_after_each_pass=run_checks_after_each_pass,
            suppress_check_failures=suppress_check_failures,
            steps=steps,
        )
        self._checks: list[Callable[[GraphModule], None]] = []

    def add_checks(self, check: Callable[[GraphModule], None]) -> None:
        if len(inspect.signature(check).parameters) != 1:
            raise TypeError("expected a check with one argument, the graph module")
        self._checks.append(check)

    def check(self, module: GraphModule) -> None:
        for check in self._checks:
            check(module)

    def __call__(self, source: GraphModule) -> PassResult:
        modified = False
        for _ in range(self.steps):
            changed = False
            for one in self.passes:
                source, did_change = _run(one, source)
                changed = changed or did_change
                if self.run_checks_after_each_pass:
                    self._check(source)
            modified = modified or changed
            if not changed:
                break
        if not self.run_checks_after_each_pass:
            self._check(source)
        return PassResult(source, modified)

    def _check(self, module: GraphModule) -> None:
        try:
            self.check(module)
        except Exception as failure:
            if not self.suppress_check_failures:
                raise
            import warnings

            warnings.warn(f"a check failed after a pass: {failure}", stacklevel=3)


def _run(one: PassType, module: GraphModule) -> tuple[GraphModule, bool]:
    result = one(module)
    if result is None:  # It has changed the graph in place, perhaps; its code follows.
        module.recompile()
        return module, True
    if not isinstance(result, PassResult):
        raise ExportError(
            ExportErrorType.INVALID_OUTPUT_TYPE,
            f"pass {getattr(one, '__name__', one)} returned a {type(result).__name__}; "
            "expected a PassResult or None",
        )
    return result.graph_module, bool(result.modified)


class ExportedProgramPassManager(_FxPassManager):
    """The same over programs: takes passes over graph modules and over programs."""

    def __init__(
        self,
        passes: list[AnyPass] | list[list[AnyPass]] | None = None,
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
        """Nothing by default; a subclass says what must hold after each pass."""

    def __call__(
        self,
        exported_program: ExportedProgram,
        override_verifiers: list[type[Verifier]] | None = None,
    ) -> ExportedProgramPassResult:
        from executorch.exir.program._programs import apply_passes

        program = own_copy(exported_program)
        check = self._check_after if self.run_checks_after_each_pass else None
        for _ in range(self.steps):
            program = apply_passes(program, self.passes, check)
        if override_verifiers is not None:
            program._verifiers = list(override_verifiers)
        return ExportedProgramPassResult(program, True)

    def _check_after(self, program: ExportedProgram, one: Any) -> None:
        self.check(program)
