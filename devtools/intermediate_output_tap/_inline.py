# SPDX-License-Identifier: BSD-3-Clause
"""A function of one tensor as nodes of the edge dialect in another graph."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import torch
from torch import fx

from executorch.exir import EdgeCompileConfig, to_edge


class _Function(torch.nn.Module):
    def __init__(self, function: Callable[[torch.Tensor], torch.Tensor]) -> None:
        super().__init__()
        self._function = function

    def forward(self, x: torch.Tensor) -> torch.Tensor:
        return self._function(x)


def inline(
    graph: fx.Graph, value: fx.Node, function: Callable[[torch.Tensor], torch.Tensor]
) -> fx.Node:
    """The node that gives the result. The function is lowered for the sizes of `value`, which are fixed for that, and
    must need no constants."""
    given = value.meta["val"]
    example = torch.zeros(tuple(map(int, given.shape)), dtype=given.dtype)
    program = to_edge(
        torch.export.export(_Function(function), (example,)),
        compile_config=EdgeCompileConfig(_check_ir_validity=False),
    ).exported_program()
    nodes: dict[fx.Node, Any] = {}
    for node in program.graph.nodes:
        if node.op == "placeholder":
            if nodes:
                raise ValueError(
                    f"expected a function of one tensor without constants, found {node.name}"
                )
            nodes[node] = value
        elif node.op == "output":
            (result,) = node.args[0]
            return nodes[result]
        else:
            nodes[node] = graph.node_copy(node, nodes.__getitem__)
            nodes[node].meta.pop("debug_handle", None)
    raise AssertionError("a graph ends with its outputs")
