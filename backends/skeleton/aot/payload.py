# SPDX-License-Identifier: BSD-3-Clause
"""Collects the calls of one payload; its constants become named data of the program."""

from __future__ import annotations

import hashlib
from pathlib import Path
from typing import Any

from torch.export import ExportedProgram
from torch.fx import Node

from executorch.exir._serialize._named_data_store import NamedDataStore
from executorch.exir._serialize._tensor_bytes import tensor_bytes
from executorch.exir.backend.lowering.constants import Constants
from executorch.exir.backend.lowering.payload_schema import PayloadSchema
from executorch.exir.passes.external_constants_pass import delegate_data_file

SCHEMA = PayloadSchema(Path(__file__).parents[1] / "schema" / "skeleton.fbs")
ALIGNMENT = 16  # bytes, of constants


class Payload:
    """Of a program's user inputs and the data it owns, in their order."""

    def __init__(self, program: ExportedProgram) -> None:
        self.store = NamedDataStore()
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
        data = bytes(memoryview(tensor_bytes(tensor.detach().contiguous())))
        key = hashlib.sha256(data).hexdigest()
        self.store.add_named_data(key, data, ALIGNMENT, external_tag=delegate_data_file(node))
        return SCHEMA.make("Constant", key=key, numel=tensor.numel())
