# SPDX-License-Identifier: BSD-3-Clause
"""Delegation of an edge program."""

from __future__ import annotations

from typing import Any

from torch.fx import GraphModule

from executorch.backends.test.harness.stages.stage import Stage, StageType
from executorch.exir import EdgeProgramManager
from executorch.exir.backend.partitioner import Partitioner


class Partition(Stage):
    def __init__(self, partitioner: Partitioner) -> None:
        self.partitioner = partitioner
        self.delegate_module: EdgeProgramManager | None = None

    def stage_type(self) -> StageType:
        return StageType.PARTITION

    def run(self, artifact: EdgeProgramManager, inputs: Any = None) -> None:
        self.delegate_module = artifact.to_backend(self.partitioner)

    @property
    def artifact(self) -> EdgeProgramManager:
        return self.delegate_module

    @property
    def graph_module(self) -> GraphModule:
        return self.delegate_module.exported_program().graph_module
