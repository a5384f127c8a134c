# SPDX-License-Identifier: BSD-3-Clause
"""Passes on an exported or an edge program."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from torch.export import ExportedProgram
from torch.fx import GraphModule

from executorch.backends.test.harness.stages.stage import Stage, StageType
from executorch.exir import EdgeProgramManager


class RunPasses(Stage):
    """`pass_manager_cls(program, pass_list).transform()`, then each of `pass_functions`, program to program."""

    def __init__(
        self,
        pass_manager_cls: type,
        pass_list: list[type] | None = None,
        pass_functions: list[Callable[[ExportedProgram], ExportedProgram]] | None = None,
    ) -> None:
        self.pass_manager_cls = pass_manager_cls
        self.pass_list = pass_list
        self.pass_functions = pass_functions
        self.edge_or_aten_program: EdgeProgramManager | ExportedProgram | None = None

    def stage_type(self) -> StageType:
        return StageType.RUN_PASSES

    def _transformed(self, program: ExportedProgram) -> ExportedProgram:
        if self.pass_list:
            program = self.pass_manager_cls(program, self.pass_list).transform()
        for function in self.pass_functions or ():
            program = function(program)
        return program

    def run(self, artifact: EdgeProgramManager | ExportedProgram, inputs: Any = None) -> None:
        if isinstance(artifact, EdgeProgramManager):
            programs = {
                name: self._transformed(artifact.exported_program(name))
                for name in artifact.methods
            }
            self.edge_or_aten_program = EdgeProgramManager(
                programs, artifact._config_methods, artifact.compile_config
            )
        else:
            self.edge_or_aten_program = self._transformed(artifact)

    @property
    def artifact(self) -> EdgeProgramManager | ExportedProgram:
        return self.edge_or_aten_program

    @property
    def graph_module(self) -> GraphModule:
        made = self.edge_or_aten_program
        program = made.exported_program() if isinstance(made, EdgeProgramManager) else made
        return program.graph_module
