# SPDX-License-Identifier: BSD-3-Clause
"""Products with transposed weights become linear layers.

before: %t = t_copy(%w); %v = view_copy(%x, [6, 4]); %y = addmm(%b, %v, %t); %z = view_copy(%y, [2, 3, 5])
after:  %z = linear(%x, %w, %b)
"""

from __future__ import annotations

from typing import Any

import torch
from torch.fx import Graph, GraphModule, Node
from torch.fx.passes.infra.pass_base import PassResult

from executorch.backends.transforms.edits import (
    call_before,
    finished,
    in_dialect_of,
    replace,
    shape_of,
)
from executorch.exir.backend.lowering.quantized import form_of, is_dequantize
from executorch.exir.graph_facts import op_name
from executorch.exir.pass_base import ExportPass

_LINEAR = torch.ops.aten.linear.default
_VIEWS = ("aten.view_copy.default", "aten.view.default")
_TRANSPOSES = (
    "aten.t_copy.default",
    "aten.t.default",
    "aten.permute_copy.default",
    "aten.permute.default",
)


def get_shape(input_node: Node) -> Any:
    """Sizes of what a node computes; ValueError when nothing tells them."""
    value = input_node.meta.get("val")
    if value is None:
        value = input_node.meta.get("tensor_meta")
    if value is None:
        raise ValueError(
            f"{input_node.name} has neither a value nor tensor_meta; propagate shapes first"
        )
    value = value[0] if isinstance(value, tuple | list) and not hasattr(value, "shape") else value
    return value.shape


def get_dqlinear_input(node: Node) -> Node | None:
    """The float tensor behind a dequantize of values that were quantized while running; None for anything else."""
    if form_of(node) != "per_tensor.tensor" or not is_dequantize(node):
        return None
    quantize = node.args[0]
    return quantize.args[0] if isinstance(quantize, Node) and quantize.args else None


def _plain_weight(node: Any) -> Node | None:
    """What is transposed, if it is a matrix."""
    if op_name(node) not in _TRANSPOSES:
        return None
    is_permute = "permute" in op_name(node)
    return node.args[0] if not is_permute or [d % 2 for d in node.args[1]] == [1, 0] else None


def replace_addmm_mm_with_linear(graph: Graph) -> Graph:
    for node in list(graph.nodes):
        match op_name(node):
            case "aten.addmm.default":
                bias, x, weight = node.args
                fits = all(factor == 1 for factor in node.kwargs.values())
            case "aten.mm.default":
                (x, weight), bias, fits = node.args, None, True
            case _:
                continue
        plain = _plain_weight(weight)
        if plain is None or not fits or (bias is not None and len(shape_of(bias)) != 1):
            continue
        args = (x, plain) if bias is None else (x, plain, bias)
        replace(node, call_before(node, in_dialect_of(node, _LINEAR), args))
    graph.eliminate_dead_code()
    return graph


def replace_linear_view_copy_input_output(graph: Graph) -> Graph:
    """Takes views away that only join leading dimensions before a linear and part them after it."""
    for node in list(graph.nodes):
        if op_name(node) != "aten.linear.default":
            continue
        before, readers = node.args[0], list(node.users)
        if op_name(before) not in _VIEWS or not readers:
            continue
        source = before.args[0]
        wanted = [*shape_of(source)[:-1], shape_of(node)[-1]]
        views = all(op_name(user) in _VIEWS and shape_of(user) == wanted for user in readers)
        if not views or shape_of(source)[-1] != shape_of(before)[-1]:
            continue
        made = call_before(node, node.target, (source, *node.args[1:]), dict(node.kwargs))
        for user in readers:
            replace(user, made)
    graph.eliminate_dead_code()
    return graph


def apply_addmm_mm_to_linear_transform(graph: Graph) -> Graph:
    """Works in place."""
    return replace_linear_view_copy_input_output(replace_addmm_mm_with_linear(graph))


class AddmmToLinearTransform(ExportPass):
    def call(self, graph_module: GraphModule) -> PassResult:
        before = [node.target for node in graph_module.graph.nodes]
        apply_addmm_mm_to_linear_transform(graph_module.graph)
        return finished(graph_module, before != [node.target for node in graph_module.graph.nodes])
