# SPDX-License-Identifier: BSD-3-Clause
# compat
"""Run-time checks that torch.export wrote into a graph go.

before: %c = x.sum() > 0; aten._assert_async(%c)  after: (nothing)
"""

from __future__ import annotations

from torch.fx import GraphModule
from torch.fx.passes.infra.pass_base import PassBase, PassResult

from executorch.exir.passes.dead_code_elimination_pass import dead_code_elimination_pass
from executorch.exir.retrace.op_rules import DROPPED_NAMES

_NOT_CORE = frozenset({"aten::_assert_tensor_metadata"})


class RemoveGraphAssertsPass(PassBase):
    """to_edge drops them itself; this is for graphs from elsewhere."""

    def call(self, graph_module: GraphModule) -> PassResult:
        result = _remove(graph_module, DROPPED_NAMES)
        if result.modified:
            dead_code_elimination_pass(graph_module)
        return result


class RemoveNonCoreAtenOpGraphAssertsPass(PassBase):
    """Only the checks that are no core ATen operators go; those of values and sizes stay."""

    def call(self, graph_module: GraphModule) -> PassResult:
        return _remove(graph_module, _NOT_CORE)


def _remove(graph_module: GraphModule, names: frozenset[str]) -> PassResult:
    modified = False
    for module in graph_module.modules():
        if not isinstance(module, GraphModule):
            continue
        for node in reversed(module.graph.nodes):
            schema = getattr(node.target, "_schema", None)
            if node.op == "call_function" and schema and schema.name in names:
                if node.users:
                    node.replace_all_uses_with(None)
                module.graph.erase_node(node)
                modified = True
    if modified:
        graph_module.recompile()
    return PassResult(graph_module, modified)
