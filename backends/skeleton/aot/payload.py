# SPDX-License-Identifier: BSD-3-Clause
"""Writes one payload: what its values, constants and calls are in the format of skeleton.fbs."""

from __future__ import annotations

from pathlib import Path
from typing import Any

from torch.fx import Node

from executorch.exir.backend.lowering.layout import PLAIN, Layout
from executorch.exir.backend.lowering.payload.schema import PayloadSchema
from executorch.exir.backend.lowering.payload.writer import Writer
from executorch.exir.backend.lowering.steps import Step

SCHEMA = PayloadSchema(Path(__file__).parents[1] / "schema" / "skeleton.fbs")


class Payload(Writer[Node, Any]):
    """Values count user inputs, the data that the program owns, and results of calls, in this order."""

    backend, partitioner = "SkeletonBackend", "SkeletonPartitioner"
    alignment = 16  # bytes, of constants
    names_outputs = True

    def call(self, operator: str, step: Step) -> None:
        left, right = map(self.read, step.head.args)
        kind = SCHEMA.classes["Operator"][operator]
        self.operations.append(SCHEMA.make("Call", operator=kind, left=left, right=right))
        self.write(step.result)

    def packed(self) -> bytes:
        graph = SCHEMA.make(
            "Graph",
            num_inputs=self.num_inputs,
            constants=self._constants,
            calls=self.operations,
            outputs=self.output_ids(),
        )
        return SCHEMA.pack(graph)

    def begin(self) -> None:
        self._constants = []
        for node, tensor in self.constants.items():
            key = self.store.file(node, tensor).key
            self._constants.append(SCHEMA.make("Constant", key=key, numel=tensor.numel()))
            self.define(node, self.add_value(node))

    def make_input(self, node: Node, place: int) -> tuple[int, Layout]:
        return self.add_value(node), PLAIN

    def make_value(self, node: Node, layout: Layout) -> int:
        return self.add_value(node)

    def read_constant(self, node: Node, layout: Layout, rank: int) -> int:
        return self.known(node)
