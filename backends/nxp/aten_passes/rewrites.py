# SPDX-License-Identifier: BSD-3-Clause
"""What a captured graph becomes before it is annotated: calls that no row takes as calls that one does.

before: div(x, 4); batch_norm(linear(x, w, b))        after: mul(x, 0.25); linear(x, w2, b2)"""

from __future__ import annotations

import torch
from torch.fx import GraphModule, Node

from executorch.exir.backend.lowering.quantizer.captured import attribute, captured_name, is_float
from executorch.exir.graph_facts import arguments_by_name, only_user

_LEAST_DIVISOR = 1e-12


def divisions_to_products(model: GraphModule) -> None:
    """By a number or a constant that is nowhere near 0."""
    for node in list(model.graph.nodes):
        if captured_name(node) != "aten.div.Tensor" or not is_float(node) or node.kwargs:
            continue
        divisor = node.args[1]
        data = attribute(model, divisor) if isinstance(divisor, Node) else torch.tensor(divisor)
        if data is None or not data.is_floating_point() and isinstance(divisor, Node):
            continue
        if not bool((data.abs() > _LEAST_DIVISOR).all()):
            continue
        factor = _constant(model, node, 1.0 / data.detach().float())
        node.target = torch.ops.aten.mul.Tensor
        node.args = (node.args[0], factor)
    model.recompile()


def sums_of_all_to_dims(model: GraphModule) -> None:
    """sum(x) -> sum(x, [0, 1, 2]), of which tables have a row."""
    for node in list(model.graph.nodes):
        if captured_name(node) == "aten.sum.default" and is_float(node.args[0]) and is_float(node):
            node.target = torch.ops.aten.sum.dim_IntList
            node.args, node.kwargs = (node.args[0], list(range(node.args[0].meta["val"].dim()))), {}
    model.recompile()


def linear_norms_to_linears(model: GraphModule) -> None:
    """Of a batch norm in inference; PyTorch itself folds those behind convolutions."""
    for norm in list(model.graph.nodes):
        if captured_name(norm) != "aten.batch_norm.default":
            continue
        linear = norm.args[0]
        given = arguments_by_name(norm)
        is_linear = captured_name(linear) == "aten.linear.default" and only_user(linear) is norm
        if not is_linear or given["training"] or linear.meta["val"].dim() != 2:
            continue
        names = ("weight", "bias", "running_mean", "running_var")
        data = [given[name] and attribute(model, given[name]) for name in names]
        weight = attribute(model, linear.args[1])
        biases = [attribute(model, each) for each in linear.args[2:3] if each is not None]
        if weight is None or any(each is None for each in (*data, *biases)):
            continue
        gamma, beta, mean, variance = (each.detach() for each in data)
        factor = gamma / (variance + given["eps"]).sqrt()
        bias = biases[0].detach() if biases else torch.zeros_like(mean)
        linear.args = (
            linear.args[0],
            _constant(model, linear, weight.detach() * factor[:, None]),
            _constant(model, linear, (bias - mean) * factor + beta),
        )
        norm.replace_all_uses_with(linear)
        model.graph.erase_node(norm)
    model.recompile()


def _constant(model: GraphModule, before: Node, value: torch.Tensor) -> Node:
    number = sum(1 for each in dir(model) if each.startswith("_neutron_"))
    name = f"_neutron_{number}"
    model.register_buffer(name, value)
    with model.graph.inserting_before(before):
        made = model.graph.create_node("get_attr", name)
    made.meta["val"] = before.meta["val"].new_empty(value.shape)
    return made
