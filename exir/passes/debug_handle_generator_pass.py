# SPDX-License-Identifier: BSD-3-Clause
"""Numbers nodes, so that what the runtime measures can be traced back to them.

before: %y = relu(%x)                            after: %y.meta["debug_handle"] = 3
to_edge numbers by source operator; here are the nodes that passes have added since.
"""

from __future__ import annotations

from torch.export import ExportedProgram
from torch.fx import GraphModule, Node
from torch.fx.passes.infra.pass_base import PassResult

from executorch.exir.lowered_backend_module import get_lowered_backend_modules
from executorch.exir.pass_base import ExportPass


class DebugHandleGeneratorPass(ExportPass):
    """Numbers all calls anew, in order; branches included."""

    def call(self, graph_module: GraphModule) -> PassResult:
        for handle, node in enumerate(_calls(graph_module), start=1):
            node.meta["debug_handle"] = handle
        _number_attributes(graph_module)
        return PassResult(graph_module, True)


def generate_missing_debug_handles(ep: ExportedProgram) -> None:
    """Numbers the calls that have no handle, after the largest one there is, delegated calls included."""
    calls = _calls(ep.graph_module)
    delegated = [
        node
        for lowered in get_lowered_backend_modules(ep.graph_module)
        for node in _calls(lowered.original_module.graph_module)
    ]
    numbered = (node.meta.get("debug_handle") or 0 for node in (*calls, *delegated))
    largest = max(numbered, default=0)
    for node in calls:
        if not node.meta.get("debug_handle"):
            largest += 1
            node.meta["debug_handle"] = largest
    _number_attributes(ep.graph_module)


def _number_attributes(graph_module: GraphModule) -> None:
    """Branches and lowered modules have the handle of the call that reads them."""
    for module in graph_module.modules():
        for node in (
            module.graph.find_nodes(op="get_attr") if isinstance(module, GraphModule) else ()
        ):
            handles = (user.meta.get("debug_handle") for user in node.users)
            node.meta["debug_handle"] = next((each for each in handles if each), None)


def _calls(graph_module: GraphModule) -> list[Node]:
    return [
        node
        for module in graph_module.modules()
        if isinstance(module, GraphModule)
        for node in module.graph.nodes
        if node.op == "call_function"
    ]
