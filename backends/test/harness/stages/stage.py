# SPDX-License-Identifier: BSD-3-Clause
"""`Stage`: one step on the way from a module to a program; it keeps what it made."""

from __future__ import annotations

from abc import ABC, abstractmethod
from enum import Enum
from pathlib import Path
from typing import Any


class StageType(Enum):
    QUANTIZE = 0
    EXPORT = 1
    RUN_PASSES = 2
    TO_EDGE = 3
    TO_EDGE_TRANSFORM_AND_LOWER = 4
    PARTITION = 5
    TO_EXECUTORCH = 6
    SERIALIZE = 7
    INITIAL_MODEL = 8


class Stage(ABC):
    """`run` makes `artifact` from what the stage before made."""

    @abstractmethod
    def stage_type(self) -> StageType:
        """Which stage it is."""

    @abstractmethod
    def run(self, artifact: Any, inputs: Any) -> None:
        """Takes the artifact of the stage before, and the example inputs."""

    @property
    @abstractmethod
    def artifact(self) -> Any:
        """What the stage made."""

    @property
    @abstractmethod
    def graph_module(self) -> Any:
        """Its graph, where it has one."""

    def run_artifact(self, inputs: Any) -> Any:
        """Computes with what the stage made."""
        program = self.artifact
        if hasattr(program, "exported_program"):  # a manager
            program = program.exported_program()
        return program.module()(*inputs)

    def artifact_str(self) -> str:
        module = self.graph_module
        return str(getattr(module, "code", module))

    def stage_banner(self) -> str:
        return f" {self.stage_type().name} ".center(80, "#")

    def dump_artifact(self, path_to_dump: str | None) -> None:
        """Appends the text of the artifact to a file, or prints it."""
        text = f"{self.stage_banner()}\n{self.artifact_str()}\n"
        if path_to_dump:
            with Path(path_to_dump).open("a") as file:
                file.write(text)
        else:
            print(text)
