# SPDX-License-Identifier: BSD-3-Clause
"""What passes that edit a graph in place share: calls with their values, new data, the end."""

from __future__ import annotations

from contextlib import nullcontext
from typing import Any

import torch
from torch._guards import detect_fake_mode
from torch._ops import OpOverload
from torch.fx import Graph, GraphModule, Node
from torch.fx.node import map_arg
from torch.fx.passes.infra.pass_base import PassResult

from executorch.exir.dialects._ops import ops as exir_ops
from executorch.exir.dialects.edge._ops import EdgeOpOverload


def in_dialect_of(node: Node, operator: OpOverload) -> Any:
    """`operator` as the dialect of `node` spells it."""
    if not isinstance(node.target, EdgeOpOverload):
        return operator
    library, _, name = operator._schema.name.partition("::")
    packet = getattr(getattr(exir_ops.edge, library), name)
    return getattr(packet, operator._overloadname)


def shape_of(node: Node) -> list[Any]:
    return list(node.meta["val"].shape)


def compute_value(node: Node) -> None:
    """Sets the value of a call from those of its arguments."""
    args, kwargs = map_arg((node.args, node.kwargs), lambda each: each.meta["val"])
    mode = detect_fake_mode([each.meta.get("val") for each in node.all_input_nodes])
    with mode or nullcontext(), torch.no_grad():
        node.meta["val"] = node.target(*args, **kwargs)
    node.meta.pop("tensor_meta", None)


def data_before(place: Node, name: str, data: torch.Tensor) -> Node:
    """A node that gives new data, a buffer `name` of the graph module; it stands before `place`."""
    data = data.detach().contiguous()
    place.graph.owning_module.register_buffer(name, data)
    with place.graph.inserting_before(place):
        node = place.graph.get_attr(name)
    mode = place.args[0].meta["val"].fake_mode
    node.meta["val"] = mode.from_tensor(data, static_shapes=True)
    return node


def call_before(
    place: Node, target: Any, args: tuple[Any, ...], kwargs: dict[str, Any] | None = None
) -> Node:
    """A new call that stands before `place` and has its origin (stack trace and so on)."""
    graph: Graph = place.graph
    with graph.inserting_before(place):
        made = graph.call_function(target, args, kwargs or {})
    made.meta = {k: v for k, v in place.meta.items() if k not in ("val", "tensor_meta", "spec")}
    compute_value(made)
    return made


def replace(node: Node, by: Node) -> None:
    """Everyone reads `by` instead; `node` goes."""
    node.replace_all_uses_with(by)
    node.graph.erase_node(node)


def finished(graph_module: GraphModule, modified: bool) -> PassResult:
    """Takes away what nobody reads any more."""
    if modified:
        graph_module.graph.eliminate_dead_code()
        graph_module.graph.lint()
        graph_module.recompile()
    return PassResult(graph_module, modified)
