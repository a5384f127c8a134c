# SPDX-License-Identifier: BSD-3-Clause
"""Graphs of the compiler in Model Explorer's format: a file of JSON that its page opens; no package writes it."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Any

import torch
from torch.fx import GraphModule, Node
from torch.utils import _pytree as pytree

from executorch.exir.lowered_backend_module import LoweredBackendModule

Namespace = Callable[[Node], str]


def collection(
    label: str, graphs: Mapping[str, GraphModule], namespace: Namespace
) -> dict[str, Any]:
    """The content of a file. Nodes of one namespace, whose levels are separated by "/", are one box; branches, bodies
    of loops and delegates are graphs of their own."""
    listed: list[dict[str, Any]] = []
    for name, graph_module in graphs.items():
        _add(listed, name, graph_module, namespace)
    return {"label": label, "graphs": listed}


def module_path(node: Node) -> str:
    """Of the nn.Module that the node comes from, by attribute: "layers/0/attention"."""
    stack = node.meta.get("nn_module_stack") or {}
    path = next(reversed([each[0] for each in stack.values()]), "")
    plain = path.replace("L['self']", "").replace("['", ".").replace("']", "")
    return "/".join(part for part in plain.split(".") if part)


def _add(
    listed: list[dict[str, Any]], name: str, graph_module: GraphModule, namespace: Namespace
) -> None:
    graph: dict[str, Any] = {"id": name, "nodes": []}
    listed.append(graph)
    for node in graph_module.graph.nodes:
        made = _node(node, namespace(node))
        inner = _inner(graph_module, node)
        if inner is not None:
            made["subgraphIds"] = [f"{name}/{node.target}"]
            _add(listed, f"{name}/{node.target}", inner, namespace)
        graph["nodes"].append(made)


def _inner(graph_module: GraphModule, node: Node) -> GraphModule | None:
    found = getattr(graph_module, str(node.target), None) if node.op == "get_attr" else None
    if isinstance(found, LoweredBackendModule):
        return found.original_module.graph_module
    return found if isinstance(found, GraphModule) else None


def _node(node: Node, namespace: str) -> dict[str, Any]:
    values = [each for each in pytree.tree_leaves(node.meta.get("val")) if each is not None]
    attributes = {
        "op": node.op,
        "target": str(node.target),
        "debug_handle": node.meta.get("debug_handle"),
        "delegation_tag": node.meta.get("delegation_tag"),
        "line": _last_line(node.meta.get("stack_trace") or ""),
        **_constants(node),
    }
    return {
        "id": node.name,
        "label": _label(node),
        "namespace": namespace,
        "attrs": [
            {"key": key, "value": str(value)}
            for key, value in attributes.items()
            if value not in (None, "")
        ],
        "incomingEdges": [
            {"sourceNodeId": given.name, "sourceNodeOutputId": "0", "targetNodeInputId": str(place)}
            for place, given in enumerate(node.all_input_nodes)
        ],
        "outputsMetadata": [
            {"id": str(place), "attrs": [{"key": "shape", "value": _described(value)}]}
            for place, value in enumerate(values)
        ],
    }


def _label(node: Node) -> str:
    if node.op != "call_function":
        return node.op if node.op == "output" else str(node.target)
    operator = _overload(node)
    if isinstance(operator, torch._ops.OpOverload):
        return operator.__name__.removesuffix(".default")
    return str(getattr(operator, "__name__", operator))


def _overload(node: Node) -> Any:
    """What is called, without the edge dialect around it."""
    if isinstance(node.target, torch._ops.OpOverload):
        return node.target
    return getattr(node.target, "_op", node.target)


def _constants(node: Node) -> dict[str, Any]:
    """Arguments that are no tensors, by their name in the schema."""
    schema = getattr(_overload(node), "_schema", None)
    names = [argument.name for argument in schema.arguments] if schema is not None else []
    given = {**dict(zip(names, node.args, strict=False)), **node.kwargs}
    return {
        name: value
        for name, value in given.items()
        if value is not None
        and not any(isinstance(each, Node) for each in pytree.tree_leaves(value))
    }


def _described(value: Any) -> str:
    if isinstance(value, torch.Tensor):
        return f"{str(value.dtype).removeprefix('torch.')}{list(value.shape)}"
    return type(value).__name__


def _last_line(trace: str) -> str:
    """Of a stack trace: file, number and source, in one line."""
    lines = [line.strip() for line in trace.splitlines() if line.strip()]
    places = [index for index, line in enumerate(lines) if line.startswith('File "')]
    return " ".join(lines[places[-1] :]) if places else ""
