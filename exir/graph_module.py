# SPDX-License-Identifier: BSD-3-Clause
"""The graphs inside a graph: branches of conditions, bodies of loops."""

from __future__ import annotations

import operator
from collections.abc import Callable
from dataclasses import dataclass
from typing import Any, Union

import torch
from torch.fx import GraphModule, Node

from executorch.exir.error import InternalError

LeafValue = Union[  # noqa: UP007
    torch.Tensor,
    str,
    int,
    float,
    bool,
    complex,
    torch.dtype,
    torch.device,
    torch.memory_format,
    torch.layout,
    None,
]
Found = list[tuple[str, GraphModule, Node]]

# Higher-order operator -> which of its arguments are graphs.
_COND_AND_WHILE = {torch.ops.higher_order.cond: [1, 2], torch.ops.higher_order.while_loop: [0, 1]}
_SCAN = {torch.ops.higher_order.scan: [0]}
_ALL = {**_COND_AND_WHILE, **_SCAN, torch.ops.higher_order.map_impl: [0]}


def _get_submodule(
    graph_module: GraphModule, node: Node, arg_index: int
) -> tuple[str, torch.nn.Module, Node]:
    """(name, module, its get_attr node) of the module that stands at a place of a call's arguments."""
    attribute = node.args[arg_index]
    if not isinstance(attribute, Node) or attribute.op != "get_attr":
        raise InternalError(
            f"argument {arg_index} of {node.format_node()} is no module: {attribute}"
        )
    return attribute.target, operator.attrgetter(attribute.target)(graph_module), attribute


def _get_control_flow_submodules(
    graph_module: GraphModule,
    op_to_submodule_arg_index: dict[torch._ops.HigherOrderOperator, list[int]],
) -> Found:
    """(name, graph, the call) for each graph at these places of these operators' arguments."""
    found: Found = []
    for node in graph_module.graph.nodes:
        if node.op != "call_function" or node.target not in op_to_submodule_arg_index:
            continue
        for place in op_to_submodule_arg_index[node.target]:
            name, module, _ = _get_submodule(graph_module, node, place)
            found.append((name, module, node))
    return found


def is_control_flow(node: Node) -> bool:
    """A condition or a loop."""
    return node.op == "call_function" and node.target in _ALL


def get_control_flow_submodules(graph_module: GraphModule) -> Found:
    """(name, graph, the call) for every graph that a control-flow operator of `graph_module` calls."""
    return _get_control_flow_submodules(graph_module, _ALL)


def get_cond_while_submodules(graph_module: GraphModule) -> Found:
    return _get_control_flow_submodules(graph_module, _COND_AND_WHILE)


def get_scan_submodules(graph_module: GraphModule) -> Found:
    return _get_control_flow_submodules(graph_module, _SCAN)


def bfs_trace_with_node_process(gm: GraphModule, node_op: Callable[[Node], None]) -> None:
    """Calls `node_op` on all nodes but placeholders and outputs, outer graphs first."""
    queue = [gm]
    while queue:
        module = queue.pop(0)
        for node in module.graph.nodes:
            if node.op not in ("placeholder", "output"):
                node_op(node)
        queue.extend(child for _, child, _ in get_control_flow_submodules(module))


# Loops: map_impl(body, xs, extra); scan(body, init, xs, extra); while_loop(condition, body, init, extra)


@dataclass(frozen=True)
class _Form:
    """Places among the node's arguments."""

    body: int
    extra: int
    condition: int | None = None
    carried: int | None = None
    sliced: int | None = None


_FORMS = {
    "map_impl": _Form(body=0, sliced=1, extra=2),
    "scan": _Form(body=0, carried=1, sliced=2, extra=3),
    "while_loop": _Form(condition=0, body=1, carried=2, extra=3),
}


@dataclass(frozen=True)
class Loop:
    """One call. The body takes the carried values, one slice along dimension 0 of each of `sliced`, and `extra`; it
    yields the new carried values, then one slice of each stacked result. The condition takes carried and extra."""

    body: GraphModule
    condition: GraphModule | None
    carried: list[Any]
    sliced: list[Any]
    extra: list[Any]


def is_loop(node: Node) -> bool:
    return _form(node) is not None


def graph_places(node: Node) -> list[int]:
    """Which arguments are graphs."""
    form = _form(node)
    places = () if form is None else (form.condition, form.body)
    return [place for place in places if place is not None]


def loop_of(node: Node) -> Loop:
    form = _form(node)
    if form is None:
        raise ValueError(f"{node} is no loop")

    def graph(place: int) -> GraphModule:
        return operator.attrgetter(node.args[place].target)(node.graph.owning_module)

    def operands(place: int | None) -> list[Any]:
        return [] if place is None else list(node.args[place])

    return Loop(
        graph(form.body),
        None if form.condition is None else graph(form.condition),
        operands(form.carried),
        operands(form.sliced),
        operands(form.extra),
    )


def _form(node: Node) -> _Form | None:
    target = node.target
    is_higher_order = isinstance(target, torch._ops.HigherOrderOperator)
    return _FORMS.get(target.name()) if is_higher_order else None
