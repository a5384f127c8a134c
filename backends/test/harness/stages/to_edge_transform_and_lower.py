# SPDX-License-Identifier: BSD-3-Clause
"""The edge program, with what the partitioners claim delegated."""

from __future__ import annotations

from typing import Any

from torch.export import ExportedProgram
from torch.fx import GraphModule

from executorch.backends.test.harness.stages.stage import Stage, StageType
from executorch.exir import EdgeCompileConfig, EdgeProgramManager, to_edge_transform_and_lower
from executorch.exir.backend.partitioner import Partitioner


class ToEdgeTransformAndLower(Stage):
    """`partitioners`, or else one of `default_partitioner_cls`."""

    def __init__(
        self,
        default_partitioner_cls: type[Partitioner] | None = None,
        partitioners: list[Partitioner] | None = None,
        edge_compile_config: EdgeCompileConfig | None = None,
    ) -> None:
        if partitioners is None and default_partitioner_cls is not None:
            partitioners = [default_partitioner_cls()]
        self.partitioners = partitioners
        self.edge_compile_conf = edge_compile_config or EdgeCompileConfig(_check_ir_validity=False)
        self.edge_dialect_program: EdgeProgramManager | None = None

    def stage_type(self) -> StageType:
        return StageType.TO_EDGE_TRANSFORM_AND_LOWER

    def run(
        self, artifact: ExportedProgram, inputs: Any = None, generate_etrecord: bool = False
    ) -> None:
        self.edge_dialect_program = to_edge_transform_and_lower(
            artifact,
            compile_config=self.edge_compile_conf,
            partitioner=self.partitioners,
            generate_etrecord=generate_etrecord,
        )

    @property
    def artifact(self) -> EdgeProgramManager:
        return self.edge_dialect_program

    @property
    def graph_module(self) -> GraphModule:
        return self.edge_dialect_program.exported_program().graph_module
