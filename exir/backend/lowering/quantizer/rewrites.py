# SPDX-License-Identifier: BSD-3-Clause
"""What a captured graph becomes before its operators are annotated: values that can be quantized are tensors of the
model, and convolutions and linear layers have the one form that tables of ops name."""

from __future__ import annotations

from operator import getitem
from typing import Any

import torch
from torch.fx import GraphModule, Node
from torch.fx.node import map_arg

from executorch.exir.backend.lowering.annotation import Kind
from executorch.exir.backend.lowering.quantizer.captured import (
    CapturedTable,
    attribute,
    captured_name,
    is_float,
)
from executorch.exir.graph_facts import is_pure

_BY_NAME_OF_PADDING = {
    "aten.conv1d.padding": torch.ops.aten.conv1d.default,
    "aten.conv2d.padding": torch.ops.aten.conv2d.default,
    "aten.conv3d.padding": torch.ops.aten.conv3d.default,
}
_WITH_NUMBERS = frozenset(f"aten.{name}.Tensor" for name in ("add", "div", "mul", "sub"))
_LINEAR = "aten.linear.default"
# Where the first factor of a product stands.
_FIRST_FACTORS = {"aten.mm.default": 0, "aten.matmul.default": 0, "aten.addmm.default": 1}
_ARGUMENTS = {  # of a convolution, with their defaults
    "input": None,
    "weight": None,
    "bias": None,
    "stride": [1],
    "padding": "valid",
    "dilation": [1],
    "groups": 1,
}


def numbers_to_tensors(model: GraphModule, table: CapturedTable) -> None:
    """add(x, 2) -> add(x, constant): a constant can be quantized."""
    for node in list(model.graph.nodes):
        is_one = captured_name(node) in _WITH_NUMBERS and table.kind_of(node) is Kind.ARITHMETIC
        if not is_one or not is_float(node):
            continue
        if len(node.args) != 2 or not isinstance(node.args[1], int | float):
            continue
        number = torch.tensor(float(node.args[1]))
        node.args = (node.args[0], _constant(model, node, "_number", number))
    model.recompile()


def silu_to_sigmoid(model: GraphModule) -> None:
    """silu(x) -> x * sigmoid(x), for backends that have no silu: both results have a range of their own."""
    aten = torch.ops.aten
    for node in list(model.graph.nodes):
        if captured_name(node) not in ("aten.silu.default", "aten.silu_.default"):
            continue
        x = node.args[0]
        with model.graph.inserting_before(node):
            gate = model.graph.call_function(aten.sigmoid.default, (x,))
            made = model.graph.call_function(aten.mul.Tensor, (x, gate))
        gate.meta, made.meta = dict(node.meta), dict(node.meta)
        node.replace_all_uses_with(made)
        model.graph.erase_node(node)
    model.recompile()


def paddings_to_numbers(model: GraphModule, table: CapturedTable) -> None:
    """conv2d(x, w, padding="same") -> conv2d(x, w, padding=[1, 1]), behind a pad where sides differ."""
    for node in list(model.graph.nodes):
        operator = _BY_NAME_OF_PADDING.get(captured_name(node))
        if operator is None or not table.has_weights(str(operator)):
            continue
        given: dict[str, Any] = _ARGUMENTS | dict(zip(_ARGUMENTS, node.args)) | node.kwargs
        taps = given["weight"].meta["val"].shape[2:]
        gaps = [*given["dilation"]] * (len(taps) // len(given["dilation"]))
        same = given["padding"] == "same"
        rows = [gap * (tap - 1) if same else 0 for gap, tap in zip(gaps, taps, strict=True)]
        if any(total % 2 for total in rows):
            given["input"] = _padded(node, given["input"], [total % 2 for total in rows])
        given["padding"] = [total // 2 for total in rows]
        node.target = operator
        node.args = tuple(given.values())
        node.kwargs = {}
    model.recompile()


def matmul_to_linear(model: GraphModule, table: CapturedTable) -> None:
    """x @ w and addmm(b, x, w) -> linear(x, w.T, b), for a parameter w: a linear layer that is written with its weight
    as [inputs, outputs]. A table whose linear layers have no weights, or whose products do, is left its products."""
    if not table.has_weights(_LINEAR):
        return
    for node in list(model.graph.nodes):
        first = _FIRST_FACTORS.get(captured_name(node))
        if first is None or node.kwargs or len(node.args) != first + 2:
            continue
        if table.kind_of(node) is Kind.GEMM:
            continue
        bias = node.args[0] if first else None
        x, weight = node.args[first:]
        if not _is_matrix(model, weight) or (bias is not None and bias.meta["val"].dim() != 1):
            continue
        with model.graph.inserting_before(node):
            turned = model.graph.call_function(torch.ops.aten.t.default, (weight,))
        turned.meta = {**node.meta, "val": weight.meta["val"].t()}
        node.target = torch.ops.aten.linear.default
        node.args = (x, turned) if bias is None else (x, turned, bias)
    model.recompile()


def computed_weights_to_tensors(model: GraphModule, table: CapturedTable) -> None:
    """conv2d(x, w - mean(w)) -> conv2d(x, constant), for weights that a module makes of its parameters at every call
    (standardized, normalized): a weight that is trained must not be."""
    constants: set[Node] = set()
    for node in list(model.graph.nodes):
        if node.op == "get_attr" or _is_of(node, constants):
            constants.add(node)
            continue
        if table.kind_of(node) is not Kind.GEMM:
            continue
        place = table.annotation_of(node).places[1]
        weight = node.args[place] if place < len(node.args) else None
        if weight is not None and weight.op != "get_attr" and weight in constants:
            with torch.no_grad():
                value = _value(model, weight)
            node.replace_input_with(weight, _constant(model, node, "_weight", value))
    model.graph.eliminate_dead_code()
    model.recompile()


def computed_operands_to_tensors(model: GraphModule) -> None:
    """add(x, linear(zeros, w)) -> add(x, constant): what is computed of nothing but data, where anything else reads
    it. Not for what is trained, nor for what is written: a constant that add_ writes would grow with each run."""
    constants: set[Node] = set()
    read: dict[Node, None] = {}
    for node in model.graph.nodes:
        if node.op == "get_attr" or _is_made(node) or _is_of(node, constants):
            constants.add(node)
        else:
            read |= dict.fromkeys(each for each in node.all_input_nodes if each in constants)
    for node in read:
        is_tensor = isinstance(node.meta.get("val"), torch.Tensor)
        if node.op != "get_attr" and is_tensor and _is_only_read(node):
            with torch.no_grad():
                value = _value(model, node)
            node.replace_all_uses_with(_constant(model, node, "_computed", value))
    model.graph.eliminate_dead_code()
    model.recompile()


def _is_only_read(node: Node) -> bool:
    """Once add_(x, y), where nobody else reads x, is add(x, y)."""
    for user in node.users:
        if not getattr(getattr(user.target, "_schema", None), "is_mutable", False):
            continue
        packet, _, overload = captured_name(user).removeprefix("aten.").partition(".")
        form = getattr(getattr(torch.ops.aten, packet, None), overload, None)
        if len(node.users) > 1 or user.args[0] is not node or form is None:
            return False
        user.target = form
    return True


def _is_made(node: Node) -> bool:
    """Of nothing, and always the same."""
    is_call = isinstance(node.target, torch._ops.OpOverload) and not node.all_input_nodes
    return is_call and is_pure(node.target)


def _is_matrix(model: GraphModule, node: Node) -> bool:
    """What is learned; a table of filters or of waves is not."""
    is_parameter = node.op == "get_attr" and isinstance(attribute(model, node), torch.nn.Parameter)
    return is_parameter and node.meta["val"].dim() == 2


def _value(model: GraphModule, node: Node) -> Any:
    if node.op == "get_attr":
        return attribute(model, node)
    args, kwargs = map_arg((node.args, node.kwargs), lambda each: _value(model, each))
    return node.target(*args, **kwargs)


def _is_of(node: Node, constants: set[Node]) -> bool:
    inputs = node.all_input_nodes
    repeats = node.target is getitem or (
        isinstance(node.target, torch._ops.OpOverload) and is_pure(node.target)
    )
    return repeats and bool(inputs) and constants.issuperset(inputs)


def _padded(node: Node, source: Node, ends: list[int]) -> Node:
    """`source` with so many more zeros at the ends of its last dimensions."""
    sizes = [size for end in reversed(ends) for size in (0, end)]
    with node.graph.inserting_before(node):
        pad = node.graph.call_function(torch.ops.aten.pad.default, (source, sizes))
    pad.meta = {**node.meta, "val": torch.nn.functional.pad(source.meta["val"], sizes)}
    return pad


def _constant(model: GraphModule, before: Node, prefix: str, value: torch.Tensor) -> Node:
    name = f"{prefix}_{sum(1 for each in dir(model) if each.startswith(f'{prefix}_'))}"
    model.register_buffer(name, value)
    with model.graph.inserting_before(before):
        constant = model.graph.create_node("get_attr", name)
    constant.meta["val"] = before.meta["val"].new_empty(value.shape)
    return constant
