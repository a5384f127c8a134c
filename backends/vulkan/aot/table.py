# SPDX-License-Identifier: BSD-3-Clause
"""`VulkanTable`: steps of the table with what quantizes their inputs while running."""

from __future__ import annotations

from typing import Any

from torch.fx import Graph, Node

from executorch.backends.vulkan.aot.attention import attention_along
from executorch.backends.vulkan.aot.row import VulkanRow
from executorch.exir.backend.lowering.op_table import Constants, OpTable
from executorch.exir.backend.lowering.quantized_steps import chain_of
from executorch.exir.backend.lowering.steps import Step, nodes_of


def along(step: Step) -> list[Node]:
    """What goes into a delegate with a step, and is computed for it or not at all: the calls that quantize an input
    while running; with what attends, the writes of its caches."""
    chain = chain_of(step.named["input"]) if "input" in step.named else None
    return [*(chain.nodes if chain is not None else ()), *attention_along(step.head)]


class VulkanTable(OpTable[VulkanRow]):
    def steps(self, graph: Graph, constants: Constants) -> list[Any]:
        """Without those that are for other steps alone."""
        steps = super().steps(graph, constants)
        leading = [step for step in steps if step.pattern is not None or along(step)]
        inside = {node for step in leading for node in nodes_of(step)}
        beside = {node for step in leading for node in along(step)}
        for node in reversed(list(graph.nodes)):
            readers = [user for user in node.users if user.op != "output"]
            if node in beside and not all(each in inside or each in beside for each in readers):
                beside.discard(node)  # others read it, too: it is computed
        return [step for step in steps if step.head not in beside]
