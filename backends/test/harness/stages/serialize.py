# SPDX-License-Identifier: BSD-3-Clause
"""The bytes of the program, run by the runtime."""

from __future__ import annotations

from pathlib import Path
from typing import Any

from torch.utils import _pytree as pytree

from executorch.backends.test.harness.stages.stage import Stage, StageType
from executorch.exir import ExecutorchProgramManager


class Serialize(Stage):
    def __init__(self) -> None:
        self.buffer: bytes | None = None

    def stage_type(self) -> StageType:
        return StageType.SERIALIZE

    def run(self, artifact: ExecutorchProgramManager, inputs: Any = None) -> None:
        self.buffer = artifact.buffer

    @property
    def artifact(self) -> bytes:
        return self.buffer

    @property
    def graph_module(self) -> None:
        return None

    def run_artifact(self, inputs: Any) -> list[Any]:
        from executorch.extension.pybindings.portable_lib import _load_for_executorch_from_buffer

        return _load_for_executorch_from_buffer(self.buffer).forward(pytree.tree_leaves(inputs))

    def artifact_str(self) -> str:
        return f"a program of {len(self.buffer)} bytes"

    def dump_artifact(self, path_to_dump: str | None) -> None:
        """Writes the program; a path is needed."""
        if not path_to_dump:
            raise RuntimeError("a serialized program goes to a file; give a path")
        Path(path_to_dump).write_bytes(self.buffer)
