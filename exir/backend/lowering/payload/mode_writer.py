# SPDX-License-Identifier: BSD-3-Clause
"""A writer of programs whose quantized steps read values as they are stored, in formats of graphs with layouts."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from torch.fx import Node

from executorch.exir.backend.lowering.layout import dims_in, in_layout
from executorch.exir.backend.lowering.mode_steps import ModeStep, dequantizes_read
from executorch.exir.backend.lowering.payload.writer import Operation, Value, Writer


class ModeWriter(Writer[Value, Operation]):
    step: ModeStep | None
    _read_quantized: frozenset[Node] | set[Node] = frozenset()

    def lower(self, program: Any, steps: Sequence[ModeStep] | None = None) -> None:
        self._read_quantized = dequantizes_read(steps or ())
        super().lower(program, steps)

    def stored(self, node: Node) -> Node:
        is_read = node in self._read_quantized and node not in self.constants
        return node.args[0] if is_read else node

    # ---- For rows ----

    @property
    def rank(self) -> int:
        """Of the step's first result."""
        value = self.step.head.meta["val"]
        return (value[0] if isinstance(value, tuple | list) else value).dim()

    def take(self, node: Node, rank: int = 0) -> int:
        """An operand in the layout around the step."""
        return self.read(node, self.layout, rank or self.rank)

    def axis(self, dim: int, of: Node | None = None) -> int:
        """Where a plain dimension of `of`, or of the first operand, is in the layout around the step."""
        rank = (self.step.head.args[0] if of is None else of).meta["val"].dim()
        return dims_in(self.layout, rank).index(dim % max(rank, 1))

    def in_order(self, values: Sequence[Any]) -> list[Any]:
        """One for each plain dimension, in the layout around the step."""
        return in_layout(values, self.layout)
