# SPDX-License-Identifier: BSD-3-Clause
"""Calls that have a Triton kernel (replacement.py) become calls of it, with the same arguments."""

from __future__ import annotations

import torch
from torch.fx import GraphModule
from torch.fx.passes.infra.pass_base import PassBase, PassResult

from executorch.backends.cuda.triton.replacement import replacement_of


class ReplaceEdgeOpWithTritonOpPass(PassBase):
    """ModuleNotFoundError without Triton, where there is something to replace."""

    def call(self, graph_module: GraphModule) -> PassResult:
        found = [(node, replacement_of(node)) for node in graph_module.graph.nodes]
        wanted = [(node, name) for node, name in found if name]
        if wanted:
            import executorch.backends.cuda.triton.kernels  # noqa: F401  registers them
        for node, name in wanted:
            node.target = getattr(torch.ops.triton, name).default
        if wanted:
            graph_module.recompile()
        return PassResult(graph_module, bool(wanted))
