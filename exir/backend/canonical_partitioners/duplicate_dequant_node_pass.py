# SPDX-License-Identifier: BSD-3-Clause
# compat
"""Each user of a dequantized tensor gets a dequantize of its own, so that partitions can own theirs.

before: %d = dequantize(%q); f(%d); g(%d)        after: f(dequantize(%q)); g(dequantize(%q))
"""

from __future__ import annotations

from torch.fx import GraphModule, Node
from torch.fx.passes.infra.pass_base import PassResult

from executorch.exir.backend.lowering.quantized import is_dequantize
from executorch.exir.pass_base import ExportPass


class DuplicateDequantNodePass(ExportPass):
    """Works in place."""

    def call(self, mod: GraphModule) -> PassResult:
        found = [node for node in mod.graph.nodes if is_dequantize(node) and len(node.users) > 1]
        for node in found:
            for user in list(node.users)[1:]:
                _give_copy(mod, node, user)
        mod.recompile()
        return PassResult(mod, bool(found))


def _give_copy(module: GraphModule, node: Node, user: Node) -> None:
    with module.graph.inserting_before(user):
        copy = module.graph.node_copy(node)
    user.replace_input_with(node, copy)
