# SPDX-License-Identifier: BSD-3-Clause
"""The graphs inside a graph: branches of conditions, bodies of loops."""

from __future__ import annotations

from collections.abc import Callable

import torch
from torch.fx import GraphModule, Node

Found = list[tuple[str, GraphModule, Node]]

# Higher-order operator -> which of its arguments are graphs.
_COND_AND_WHILE = {"cond": (1, 2), "while_loop": (0, 1)}
_SCAN = {"scan": (0,)}
_ALL = {**_COND_AND_WHILE, **_SCAN, "map_impl": (0,)}


def _submodules(graph_module: GraphModule, kinds: dict[str, tuple[int, ...]]) -> Found:
    found: Found = []
    for node in graph_module.graph.nodes:
        if not isinstance(node.target, torch._ops.HigherOrderOperator):
            continue
        for place in kinds.get(node.target.name(), ()):
            attribute = node.args[place]
            module = getattr(graph_module, attribute.target)
            found.append((attribute.target, module, attribute))
    return found


def get_control_flow_submodules(graph_module: GraphModule) -> Found:
    """(name, graph, its get_attr node) for every graph that a control-flow operator of `graph_module` calls."""
    return _submodules(graph_module, _ALL)


def get_cond_while_submodules(graph_module: GraphModule) -> Found:
    return _submodules(graph_module, _COND_AND_WHILE)


def get_scan_submodules(graph_module: GraphModule) -> Found:
    return _submodules(graph_module, _SCAN)


def bfs_trace_with_node_process(gm: GraphModule, node_op: Callable[[Node], None]) -> None:
    """Calls `node_op` on all nodes but placeholders and outputs, outer graphs first."""
    queue = [gm]
    while queue:
        module = queue.pop(0)
        for node in module.graph.nodes:
            if node.op not in ("placeholder", "output"):
                node_op(node)
        queue.extend(child for _, child, _ in get_control_flow_submodules(module))
