# SPDX-License-Identifier: BSD-3-Clause
"""What the compiler writes on nodes and PyTorch's serializer does not keep."""

from __future__ import annotations

from typing import Any

from torch.fx import GraphModule

from executorch.exir.serde._delegates import graph_modules

_KEPT = ("constant_tag", "debug_handle", "delegation_tag", "lifted_scalar")


def node_meta(module: GraphModule) -> list[dict[str, dict[str, Any]]]:
    """Node name -> kept entries, for the graph and its branches in their order."""
    return [
        {
            node.name: kept
            for node in graph_module.graph.nodes
            if (kept := {key: node.meta[key] for key in _KEPT if key in node.meta})
        }
        for graph_module in graph_modules(module)
    ]


def restore_node_meta(module: GraphModule, saved: list[dict[str, dict[str, Any]]]) -> None:
    for graph_module, entries in zip(graph_modules(module), saved, strict=True):
        for node in graph_module.graph.nodes:
            node.meta.update(entries.get(node.name, {}))
