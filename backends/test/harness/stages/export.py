# SPDX-License-Identifier: BSD-3-Clause
"""torch.export."""

from __future__ import annotations

from typing import Any

import torch
from torch.export import ExportedProgram, export
from torch.fx import GraphModule

from executorch.backends.test.harness.stages.stage import Stage, StageType


class Export(Stage):
    def __init__(self, dynamic_shapes: tuple[Any] | None = None, strict: bool = True) -> None:
        self.dynamic_shapes, self.strict = dynamic_shapes, strict
        self.exported_program: ExportedProgram | None = None

    def stage_type(self) -> StageType:
        return StageType.EXPORT

    def run(self, artifact: torch.nn.Module, inputs: tuple[Any, ...]) -> None:
        with torch.no_grad():
            self.exported_program = export(
                artifact, inputs, dynamic_shapes=self.dynamic_shapes, strict=self.strict
            )

    @property
    def artifact(self) -> ExportedProgram:
        return self.exported_program

    @property
    def graph_module(self) -> GraphModule:
        return self.exported_program.graph_module
