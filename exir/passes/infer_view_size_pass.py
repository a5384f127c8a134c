# SPDX-License-Identifier: BSD-3-Clause
"""A view with one size computed at run time needs no computation: that size is what is left.

before: %n = sym_size(%x, 0); %m = mul(%n, 4); view_copy(%x, [%m, 64])     after: view_copy(%x, [-1, 64])
"""

from __future__ import annotations

import torch
from torch.fx import GraphModule, Node
from torch.fx.passes.infra.pass_base import PassBase, PassResult

from executorch.exir.graph_facts import called_op

_VIEW = torch.ops.aten.view_copy.default


class InferViewSizePass(PassBase):
    """Leaves the calls that computed the size, which dead code elimination removes when nobody reads them."""

    def call(self, graph_module: GraphModule) -> PassResult:
        modified = False
        for node in graph_module.graph.nodes:
            if called_op(node) is not _VIEW:
                continue
            sizes = node.meta["val"].shape
            known = [size for size in sizes if isinstance(size, int)]
            is_computed = any(isinstance(size, Node) for size in node.args[1])
            if is_computed and len(sizes) - len(known) <= 1 and all(size > 0 for size in known):
                inferred = [size if isinstance(size, int) else -1 for size in sizes]
                node.args = (node.args[0], inferred)
                modified = True
        if modified:
            graph_module.recompile()
        return PassResult(graph_module, modified)
