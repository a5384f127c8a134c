# SPDX-License-Identifier: BSD-3-Clause
"""What delegation made of a graph, for people and for tools."""

from __future__ import annotations

import operator
from typing import Any

from torch.fx import Graph, GraphModule, Node

from executorch.exir.delegate import executorch_call_delegate
from executorch.exir.lowered_backend_module import LoweredBackendModule, get_lowered_submodules


def get_delegates(graph: Graph) -> list[Node]:
    """The get_attr nodes of lowered modules."""
    owner = graph.owning_module
    return [
        node
        for node in graph.find_nodes(op="get_attr")
        if isinstance(getattr(owner, node.target, None), LoweredBackendModule)
    ]


def get_non_lowered_nodes(graph: Graph) -> list[Node]:
    """The calls that stayed; delegate calls and their items are not among them."""
    return [
        node
        for node in graph.nodes
        if node.op == "call_function" and not _belongs_to_delegate(node)
    ]


def _belongs_to_delegate(node: Node) -> bool:
    if node.target is operator.getitem:
        node = node.args[0]
    return node.target is executorch_call_delegate


def get_delegated_payload(graph_module: GraphModule) -> dict[str, tuple[str, list[Any], bytes]]:
    """Name of each lowered module -> (backend id, compile specs, blob)."""
    return {
        name: (lowered.backend_id, lowered.compile_specs, lowered.processed_bytes)
        for name, lowered, _ in get_lowered_submodules(graph_module)
    }


def format_delegated_graph(graph_module: GraphModule) -> str:
    """The graph as text with each lowered module's graph, indented, where it is called."""
    return "\n".join(_lines(graph_module, "")) + "\n"


def print_delegated_graph(graph_module: GraphModule) -> None:
    print(format_delegated_graph(graph_module))


def _lines(module: GraphModule, pad: str) -> list[str]:
    lines = [f"{pad}graph():"]
    for node in module.graph.nodes:
        if node.op == "output":
            lines.append(f"{pad}  return {node.args[0]}")
            continue
        lines.append(f"{pad}  {node.format_node()}")
        child = getattr(module, node.target, None) if node.op == "get_attr" else None
        if isinstance(child, LoweredBackendModule):
            lines.append(f"{pad}    backend_id: {child.backend_id}")
            lines.append(f"{pad}    lowered graph():")
            lines.extend(_lines(child.original_module.graph_module, pad + "      ")[1:])
        elif isinstance(child, GraphModule):
            lines.extend(_lines(child, pad + "    "))
    return lines
