# SPDX-License-Identifier: BSD-3-Clause
# compat
"""The base of passes that are run until nothing changes, and what they share."""

from __future__ import annotations

from abc import abstractmethod
from typing import Any

from torch.fx import GraphModule, Node
from torch.fx.passes.infra.pass_base import PassResult

from executorch.exir.backend.lowering.quantized import quantization_of
from executorch.exir.pass_base import ExportPass


class NeutronEdgePass(ExportPass):
    """`run` is called until it changes nothing, and no more often than a graph has nodes."""

    @abstractmethod
    def run(self, graph_module: GraphModule) -> PassResult:
        """Changes the graph in place."""

    def call(self, graph_module: GraphModule) -> PassResult:
        modified = False
        for _ in range(len(graph_module.graph.nodes)):
            result = self.run(graph_module)
            graph_module = result.graph_module
            if not result.modified:
                break
            modified = True
        graph_module.recompile()
        return PassResult(graph_module, modified)


def numbers_of(node: Node) -> tuple[Any, ...] | None:
    """Scale, zero point and limits of a call that quantizes or dequantizes with one scale."""
    qparams = quantization_of(node)
    return qparams.numbers if qparams is not None and qparams.is_static else None
