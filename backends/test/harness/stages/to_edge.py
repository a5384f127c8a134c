# SPDX-License-Identifier: BSD-3-Clause
"""The edge program, without delegates."""

from __future__ import annotations

from typing import Any

from torch.export import ExportedProgram
from torch.fx import GraphModule

from executorch.backends.test.harness.stages.stage import Stage, StageType
from executorch.exir import EdgeCompileConfig, EdgeProgramManager, to_edge


class ToEdge(Stage):
    def __init__(self, edge_compile_config: EdgeCompileConfig | None = None) -> None:
        self.edge_compile_conf = edge_compile_config or EdgeCompileConfig()
        self.edge_dialect_program: EdgeProgramManager | None = None

    def stage_type(self) -> StageType:
        return StageType.TO_EDGE

    def run(self, artifact: ExportedProgram, inputs: Any = None) -> None:
        self.edge_dialect_program = to_edge(artifact, compile_config=self.edge_compile_conf)

    @property
    def artifact(self) -> EdgeProgramManager:
        return self.edge_dialect_program

    @property
    def graph_module(self) -> GraphModule:
        return self.edge_dialect_program.exported_program().graph_module
