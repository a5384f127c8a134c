# SPDX-License-Identifier: BSD-3-Clause
"""The planned, emitted program."""

from __future__ import annotations

from typing import Any

from torch.fx import GraphModule

from executorch.backends.test.harness.stages.stage import Stage, StageType
from executorch.exir import (
    EdgeProgramManager,
    ExecutorchBackendConfig,
    ExecutorchProgramManager,
)
from executorch.exir.print_program import pretty_print, print_program


class ToExecutorch(Stage):
    def __init__(self, config: ExecutorchBackendConfig | None = None) -> None:
        self.config = config or ExecutorchBackendConfig()
        self.executorch_program: ExecutorchProgramManager | None = None

    def stage_type(self) -> StageType:
        return StageType.TO_EXECUTORCH

    def run(self, artifact: EdgeProgramManager, inputs: Any = None) -> None:
        self.executorch_program = artifact.to_executorch(self.config)

    @property
    def artifact(self) -> ExecutorchProgramManager:
        return self.executorch_program

    @property
    def graph_module(self) -> GraphModule:
        return self.executorch_program.exported_program().graph_module

    def dump_artifact(self, path_to_dump: str | None) -> None:
        """Prints the emitted program, too; a file gets the text of the graph alone."""
        if not path_to_dump:
            print(self.stage_banner())
            print_program(self.executorch_program.executorch_program, show_meminfo=True)
            pretty_print(self.executorch_program.executorch_program)
            return
        super().dump_artifact(path_to_dump)
