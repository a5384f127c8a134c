# SPDX-License-Identifier: BSD-3-Clause
"""Collects the calls of one payload; its constants become named data of the program."""

from __future__ import annotations

from pathlib import Path
from typing import Any

from torch.export import ExportedProgram
from torch.fx import Node

from executorch.exir.backend.lowering.constant_store import ConstantStore
from executorch.exir.backend.lowering.constants import Constants
from executorch.exir.backend.lowering.payload_schema import PayloadSchema

SCHEMA = PayloadSchema(Path(__file__).parents[1] / "schema" / "skeleton.fbs")
ALIGNMENT = 16  # bytes, of constants


class Payload:
    """Of a program's user inputs and the data it owns, in their order."""

    def __init__(self, program: ExportedProgram) -> None:
        self.store = ConstantStore(ALIGNMENT)
        self._calls: list[Any] = []
        constants = Constants(program)
        placeholders = program.graph.find_nodes(op="placeholder")
        inputs = [node for node in placeholders if node not in constants]
        self._num_inputs = len(inputs)
        self._ids = {node: place for place, node in enumerate([*inputs, *constants])}
        self._constants = [self._constant(node, tensor) for node, tensor in constants.items()]

    def call(self, operator: str, result: Node, left: Node, right: Node) -> None:
        made = SCHEMA.make(
            "Call",
            operator=SCHEMA.classes["Operator"][operator],
            left=self._ids[left],
            right=self._ids[right],
        )
        self._ids[result] = len(self._ids)
        self._calls.append(made)

    def finish(self, outputs: list[Node]) -> bytes:
        graph = SCHEMA.make(
            "Graph",
            num_inputs=self._num_inputs,
            constants=self._constants,
            calls=self._calls,
            outputs=[self._ids[node] for node in outputs],
        )
        return SCHEMA.pack(graph)

    def _constant(self, node: Node, tensor: Any) -> Any:
        filed = self.store.file(node, tensor)
        return SCHEMA.make("Constant", key=filed.key, numel=tensor.numel())
