# SPDX-License-Identifier: BSD-3-Clause
"""What a captured graph has no row for becomes calls that have one, before they are annotated: each of them has a range
of its own then. A call stays whole where its parts would not all be taken.

before: max(x, 1)[0], glu(x), lstm(x, h, w)     after: amax(x, [1]); a * sigmoid(b); linear, sigmoid, tanh, mul ..."""

from __future__ import annotations

import functools
import operator
from collections.abc import Callable, Mapping
from typing import Any

import torch
from torch import Tensor
from torch.fx import Graph, GraphModule, Node
from torch.fx.node import map_arg

from executorch.backends.arm.aot.data_movement import MAX_RUNS, runs_of
from executorch.backends.arm.aot.reduce import windows
from executorch.backends.transforms.edits import copied_before, traced
from executorch.exir.backend.lowering.annotation import Kind
from executorch.exir.backend.lowering.quantizer.captured import (
    CapturedTable,
    attribute,
    captured_name,
)
from executorch.exir.retrace.op_rules import copy_form, decomposition_table, is_composite

Function = Callable[..., Any]
aten = torch.ops.aten
_SDPA = "aten.scaled_dot_product_attention.default"


def _extreme(reduction: Function) -> Function:
    """Of a call whose indices nobody reads."""
    return lambda x, dim, keepdim=False: (reduction(x, [dim], keepdim), None)


def _instance_norm(
    x: Tensor, weight: Any, bias: Any, mean: Any, var: Any, training: bool, momentum: float,
    eps: float, *rest: Any,
) -> Tensor:  # fmt: skip
    """Of each channel for itself: groups of one."""
    return aten.group_norm.default(x, x.shape[1], weight, bias, eps)


def _reads_first(node: Node) -> bool:
    return all(not user.users or user.args[1] == 0 for user in node.users)


def _padded(x: Tensor, ends: list[int], mode: str, value: Any = None) -> Tensor:
    """Of slices, one for each stretch of places that follow one another."""
    for place in range(len(ends) // 2):
        dim = x.dim() - 1 - place
        before, after = ends[2 * place : 2 * place + 2]
        size = x.shape[dim]
        places = [_place(each, size, mode) for each in range(-before, size + after)]
        parts = [
            aten.slice.Tensor(x, dim, start, start + count) for start, count in runs_of(places)
        ]
        x = aten.cat.default(parts, dim) if len(parts) > 1 else parts[0]
    return x


def _place(at: int, size: int, mode: str) -> int:
    if mode == "circular":
        return at % size
    if mode == "replicate":
        return min(max(at, 0), size - 1)
    at = abs(at)
    return at if at < size else 2 * (size - 1) - at


def _is_padded_with_itself(node: Node) -> bool:
    mode = node.args[2] if len(node.args) > 2 else "constant"
    return mode != "constant" and sum(map(abs, node.args[1])) <= MAX_RUNS


def _adaptive_max(x: Tensor, sizes: list[int]) -> tuple[Tensor, None]:
    rows, columns = (windows(x.shape[dim], count) for dim, count in zip((-2, -1), sizes))
    parts = []
    for row in rows:
        band = aten.slice.Tensor(x, -2, *row)
        made = [
            aten.amax.default(aten.slice.Tensor(band, -1, *each), [-2, -1], True)
            for each in columns
        ]
        parts.append(aten.cat.default(made, -1))
    return aten.cat.default(parts, -2), None


NEVER = (
    -32.0
)  # of a score that a mask forbids: e^-32 of the others, and steps of an eighth in 8 bits


def _attention(
    query: Tensor, key: Tensor, value: Tensor, mask: Tensor | None = None, dropout_p: float = 0.0,
    is_causal: bool = False, *, scale: float | None = None, enable_gqa: bool = False,
) -> Tensor:  # fmt: skip
    """By matmuls and a softmax, with a mask that is finite."""
    if enable_gqa:
        times = query.shape[-3] // key.shape[-3]
        key, value = (each.repeat_interleave(times, -3) for each in (key, value))
    query = query * (query.shape[-1] ** -0.5 if scale is None else scale)
    scores = torch.matmul(query, key.transpose(-2, -1))
    if is_causal:
        mask = torch.ones(scores.shape[-2:], dtype=torch.bool).tril()
    if mask is not None and mask.dtype == torch.bool:
        scores = scores + torch.where(mask, torch.zeros(1), torch.full((1,), NEVER))
    elif mask is not None:
        scores = scores + mask.clamp(min=NEVER)
    return torch.matmul(torch.softmax(scores, -1), value)


def _drop_open_masks(model: GraphModule) -> None:
    """Masks that are known and forbid nothing."""
    for node in model.graph.nodes:
        given = len(node.args) > 3 and "attn_mask" not in node.kwargs
        if captured_name(node) == _SDPA and given and isinstance(node.args[3], Node):
            mask = attribute(model, node.args[3])
            if mask is not None and bool((mask if mask.dtype == torch.bool else mask == 0).all()):
                node.update_arg(3, None)


def _cosine(x: Tensor, y: Tensor, dim: int = 1, eps: float = 1e-8) -> Tensor:
    def length(each: Tensor) -> Tensor:
        total = aten.sum.dim_IntList(aten.mul.Tensor(each, each), [dim])
        return aten.clamp.default(aten.sqrt.default(total), eps)

    product = aten.sum.dim_IntList(aten.mul.Tensor(x, y), [dim])
    return aten.div.Tensor(product, aten.mul.Tensor(length(x), length(y)))


def _sum_with_product(
    bias: Tensor, x: Tensor, y: Tensor, beta: float = 1, alpha: float = 1
) -> Tensor:
    product = aten.mm.default(x, y)
    product = product if alpha == 1 else aten.mul.Tensor(product, alpha)
    return aten.add.Tensor(product, bias if beta == 1 else aten.mul.Tensor(bias, beta))


def _mean_slope(
    x: Tensor,
    lower: float = 1 / 8,
    upper: float = 1 / 3,
    training: bool = False,
    generator: Any = None,
) -> Tensor:
    """Of a slope that is drawn while training."""
    return aten.leaky_relu.default(x, (lower + upper) / 2)


_FORMS: dict[str, Function] = {
    "aten.celu.default": lambda x, alpha=1.0: aten.elu.default(x, alpha, 1.0, 1.0 / alpha),
    "aten.cosine_similarity.default": _cosine,
    _SDPA: _attention,
    "aten.clamp_max.default": lambda x, high: aten.clamp.default(x, None, high),
    "aten.clamp_min.default": lambda x, low: aten.clamp.default(x, low),
    "aten.max.default": lambda x: aten.amax.default(x, []),
    "aten.min.default": lambda x: aten.amin.default(x, []),
    "aten.rsub.Scalar": lambda x, number, alpha=1: aten.sub.Tensor(
        aten.full.default([1], float(number)), x, alpha=alpha
    ),
    "aten.selu.default": lambda x: aten.elu.default(x, 1.6732632423543772, 1.0507009873554805),
}
# Where indices are not read, a norm is no batch's, and what is beyond an end is the other end.
_FORMS_WHERE: dict[str, tuple[Callable[[Node], bool], Function]] = {
    "aten.pad.default": (_is_padded_with_itself, _padded),
    "aten.addmm.default": (lambda node: node.args[2].op != "get_attr", _sum_with_product),
    "aten.adaptive_max_pool2d.default": (_reads_first, _adaptive_max),
    "aten.max.dim": (_reads_first, _extreme(aten.amax.default)),
    "aten.min.dim": (_reads_first, _extreme(aten.amin.default)),
    "aten.rrelu.default": (lambda node: len(node.args) < 4 or not node.args[3], _mean_slope),
    "aten.instance_norm.default": (lambda node: node.args[3] is None, _instance_norm),
}


def decompose(model: GraphModule, table: CapturedTable) -> None:
    _drop_open_masks(model)
    forms = _forms(table)
    for node in list(model.graph.nodes):
        if node.op != "call_function" or not isinstance(node.target, torch._ops.OpOverload):
            continue
        has_form = captured_name(node) in _FORMS_WHERE
        has_row = table.kind_of(node) is not Kind.NONE
        if not _gives_floats(node) or (has_row and not has_form):
            continue
        copies = copy_form(node.target)
        if copies is not None and table.has_row(str(copies)):
            node.target = copies
            continue
        found = _parts(node, forms, table)
        if found is not None:
            _replace(node, copied_before(node, found, node.all_input_nodes))
    model.graph.eliminate_dead_code()
    model.recompile()


@functools.lru_cache(maxsize=8)
def _known_forms() -> Mapping[Any, Function]:
    return decomposition_table()


def _forms(table: CapturedTable) -> dict[Any, Function]:
    """What takes operators apart that no row has."""
    return {op: form for op, form in _known_forms().items() if not table.has_row(str(op))}


def _gives_floats(node: Node) -> bool:
    value = node.meta.get("val")
    values = value if isinstance(value, tuple | list) else [value]
    return any(isinstance(each, Tensor) and each.dtype == torch.float32 for each in values)


def _parts(node: Node, forms: dict[Any, Function], table: CapturedTable) -> Graph | None:
    """The calls that compute the same, if all of them have rows."""
    form = _form_of(node, forms, table)
    inputs = node.all_input_nodes
    if form is None:
        return None

    def call(*values: Tensor) -> Any:
        known = dict(zip(inputs, values, strict=True))
        args, kwargs = map_arg((node.args, node.kwargs), known.__getitem__)
        return form(*args, **kwargs)

    while True:
        try:
            graph = traced(node, call, inputs, pre_dispatch=True, decomposition_table=forms)
        except (RuntimeError, TypeError, ValueError):  # a form that does not take this call
            return None
        composite = {op for op in _without_row(graph, inputs, table) if is_composite(op)} - {*forms}
        if not composite:
            break
        forms |= {op: op.decompose for op in composite}
    return None if _without_row(graph, inputs, table) else graph


def _form_of(node: Node, forms: dict[Any, Function], table: CapturedTable) -> Function | None:
    name = captured_name(node)
    where, form = _FORMS_WHERE.get(name, (None, None))
    if where is not None and where(node):
        return form
    if table.kind_of(node) is not Kind.NONE:
        return None
    if name in _FORMS or node.target in forms:
        return _FORMS.get(name) or forms[node.target]
    return node.target.decompose if is_composite(node.target) else None


def _without_row(graph: Graph, inputs: list[Node], table: CapturedTable) -> set[Any]:
    """Operators of its floats that would stay outside of a delegate; what reads nothing but data is a constant."""
    pairs = zip(graph.find_nodes(op="placeholder"), inputs, strict=True)
    constants = {place for place, node in pairs if node.op == "get_attr"}
    found = set()
    for node in graph.nodes:
        if node.op != "call_function":
            continue
        if constants.issuperset(node.all_input_nodes):
            constants.add(node)
        elif node.target is not operator.getitem and _gives_floats(node):
            copies = copy_form(node.target)
            if copies is not None and table.has_row(str(copies)):
                node.target = copies
            elif table.kind_of(node) is Kind.NONE:
                found.add(node.target)
    return found


def _replace(node: Node, made: Any) -> None:
    if isinstance(made, Node):
        node.replace_all_uses_with(made)
    else:
        for item in list(node.users):
            if item.users:
                item.replace_all_uses_with(made[item.args[1]])
            node.graph.erase_node(item)
    node.graph.erase_node(node)
