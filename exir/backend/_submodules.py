# SPDX-License-Identifier: BSD-3-Clause
"""Nodes as a module of their own, for backends that split programs themselves.

before: %a = add(%x, %y)      after: %fused_t = call_module[fused_t](%x, %y)
        %b = mul(%a, %x)             %getitem = getitem(%fused_t, 0)
"""

from __future__ import annotations

import operator

from torch.fx import GraphModule, Node
from torch.fx.passes.tools_common import legalize_graph
from torch.fx.passes.utils.fuser_utils import (
    erase_nodes,
    fuse_as_graphmodule,
    insert_subgm,
    topo_sort,
)

NodeList = list[Node]


def create_submodule_from_nodes(
    gm: GraphModule, node_list: NodeList, tag: str, skip_legalize_graph: bool = False
) -> tuple[GraphModule, Node]:
    """Moves `node_list` into the module `fused_<tag>` of `gm`; gives the module, which returns a list, and its call.
    `skip_legalize_graph`: the graph's nodes stay where they are, in an order that may not run."""
    if not node_list:
        raise RuntimeError(f"no nodes to fuse for tag {tag}: expected at least one")
    node_list = _with_items(node_list)
    module, inputs, outputs = fuse_as_graphmodule(gm, topo_sort(node_list), f"fused_{tag}")
    result = module.graph.output_node()
    values = result.args[0]
    result.args = ([values] if isinstance(values, Node) else list(values),)
    module.recompile()
    insert_subgm(gm, module, inputs, outputs)
    erase_nodes(gm, topo_sort(node_list))
    if not skip_legalize_graph:
        legalize_graph(gm)
    calls = [
        n for n in gm.graph.nodes if n.op == "call_module" and gm.get_submodule(n.target) is module
    ]
    if len(calls) != 1:
        raise RuntimeError(
            f"the nodes of tag {tag} did not form one fully contained subgraph: found {len(calls)} calls of it"
        )
    (call,) = calls
    if len(outputs) == 1:
        with gm.graph.inserting_after(call):
            item = gm.graph.call_function(operator.getitem, (call, 0))
        item.meta = dict(outputs[0].meta)
        call.replace_all_uses_with(item, lambda user: user is not item)
    gm.recompile()
    return module, call


def _with_items(nodes: NodeList) -> NodeList:
    """And the items that are picked from a call of several results: a module gives tensors."""
    known = set(nodes)
    items = [
        user
        for node in nodes
        if isinstance(node.meta.get("val"), list | tuple)
        for user in node.users
        if user.target is operator.getitem and user not in known
    ]
    return [*nodes, *items]
