# SPDX-License-Identifier: BSD-3-Clause
"""Where a node came from first."""

from __future__ import annotations

from torch.fx import Node

FROM_NODE_KEY = "from_node"
DEBUG_HANDLE_KEY = "debug_handle"
UNSET_DEBUG_HANDLE = 0


def get_greatest_ancestor_node_identifier(node: Node) -> str:
    """`name.graph id` of the node of the first graph that `node` was made from; its own name when it has none."""
    sources = node.meta.get(FROM_NODE_KEY)
    if not sources:
        return f"{node.name}.{id(node.graph)}"
    source = sources[-1]
    while source.from_node:
        source = source.from_node[-1]
    return f"{source.name}.{source.graph_id}"
