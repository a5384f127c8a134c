# SPDX-License-Identifier: BSD-3-Clause
"""What passes that edit a graph in place share: calls with their values, new data, the end."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from contextlib import ExitStack, nullcontext
from typing import Any

import torch
from torch._dispatch.python import enable_python_dispatcher
from torch._guards import detect_fake_mode
from torch._ops import OpOverload
from torch.fx import Graph, GraphModule, Node
from torch.fx.experimental.proxy_tensor import make_fx
from torch.fx.node import map_arg
from torch.fx.passes.infra.pass_base import PassResult

from executorch.exir.dialects.edge._ops import EdgeOpOverload, edge_op_of
from executorch.exir.graph_facts import op_name
from executorch.exir.retrace.op_rules import copy_form


def in_dialect_of(node: Node, operator: Any) -> Any:
    """`operator` as the dialect of `node` spells it: in the edge dialect views copy. Functions of sizes stay."""
    if not isinstance(node.target, EdgeOpOverload) or not isinstance(operator, OpOverload):
        return operator
    if operator is torch.ops.aten.sym_size.int:
        return operator
    return edge_op_of(copy_form(operator) or operator)


def is_constant(node: Node) -> bool:
    """Data of the program, or a full tensor: nothing that is computed."""
    names = ("p_", "b_", "c_", "_lifted_tensor_constant")
    is_data = node.op == "placeholder" and node.name.startswith(names)
    return node.op == "get_attr" or is_data or op_name(node) == "aten.full.default"


def shape_of(node: Node) -> list[Any]:
    return list(node.meta["val"].shape)


def _values_like(node: Node) -> ExitStack:
    """Runs operators on values such as those around `node`: fake ones in their mode."""
    sources = node.all_input_nodes or node.graph.nodes
    mode = detect_fake_mode([each.meta.get("val") for each in sources])
    stack = ExitStack()
    stack.enter_context(torch.no_grad())
    if mode is not None:
        stack.enter_context(mode)
        stack.enter_context(
            enable_python_dispatcher() if mode.shape_env is not None else nullcontext()
        )
    return stack


def compute_value(node: Node) -> None:
    """Sets the value of a call from those of its arguments."""
    args, kwargs = map_arg((node.args, node.kwargs), lambda each: each.meta["val"])
    with _values_like(node):
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
    made.meta = _origin_of(place)
    compute_value(made)
    return made


def _origin_of(node: Node) -> dict[str, Any]:
    return {k: v for k, v in node.meta.items() if k not in ("val", "tensor_meta", "spec")}


def traced_before(
    place: Node, function: Callable[..., torch.Tensor], inputs: Sequence[Node]
) -> Node:
    """What `function` computes of `inputs`, as calls that stand before `place` and have its origin. Sizes that vary
    become calls that ask for them. In the edge dialect, operators that give views become those that copy."""
    return copied_before(place, traced(place, function, inputs), inputs)


def traced(
    place: Node, function: Callable[..., Any], inputs: Sequence[Node], **options: Any
) -> Graph:
    """What `function` computes of values such as `inputs` have; `options` of make_fx."""
    with _values_like(place):
        values = [
            each.meta["val"].detach() for each in inputs
        ]  # one object per input: traced by it
        found = make_fx(function, **options)(*values).graph
    found.eliminate_dead_code()
    return found


def copied_before(place: Node, graph: Graph, inputs: Sequence[Node]) -> Any:
    """The calls of a traced graph, before `place`; its results, nodes in tuples where it has several."""
    made = dict(zip(graph.find_nodes(op="placeholder"), inputs, strict=True))
    for node in graph.nodes:
        if node.op == "call_function":
            with place.graph.inserting_before(place):
                made[node] = place.graph.node_copy(node, made.__getitem__)
            made[node].target = in_dialect_of(place, node.target)
            made[node].meta = {**_origin_of(place), "val": node.meta["val"]}
    return map_arg(graph.output_node().args[0], made.__getitem__)


def replace(node: Node, by: Node) -> None:
    """Everyone reads `by` instead; `node` goes."""
    node.replace_all_uses_with(by)
    node.graph.erase_node(node)


def take_over(graph_module: GraphModule, made: GraphModule) -> PassResult:
    """Gives `graph_module` the graph that a pass has written anew, with what that holds: the pass works in place."""
    for node in made.graph.find_nodes(op="get_attr"):
        owner, _, _ = node.target.partition(".")
        setattr(graph_module, owner, getattr(made, owner))
    graph_module.graph = made.graph
    graph_module.delete_all_unused_submodules()
    return finished(graph_module, True)


def finished(graph_module: GraphModule, modified: bool) -> PassResult:
    """Takes away what nobody reads any more; modules stay, since one of them checks the inputs."""
    if modified:
        graph_module.graph.eliminate_dead_code(
            lambda node: node.op == "call_module" or node.is_impure()
        )
        graph_module.graph.lint()
        graph_module.recompile()
    return PassResult(graph_module, modified)
