# SPDX-License-Identifier: BSD-3-Clause
"""Passes that language models need beside the usual ones."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from functools import partial
from typing import Any

import torch
from torch.fx import GraphModule, Node
from torch.fx.experimental.symbolic_shapes import statically_known_true

from executorch.backends.transforms.edits import (
    call_before,
    finished,
    in_dialect_of,
    is_constant,
    replace,
    shape_of,
    traced_before,
)
from executorch.exir.backend.lowering.patterns import Call, Found, Value, find
from executorch.exir.dialects._ops import ops as exir_ops
from executorch.exir.graph_facts import op_name
from executorch.exir.pass_base import ExportPass, PassResult
from executorch.extension.llm.custom_ops.blocks import MAX_WEIGHTS

_SDPA = torch.ops.aten.scaled_dot_product_attention.default
_BLOCKS = "llama.linear_of_blocks.default"
_EDGE = exir_ops.edge.aten
_SWAPS = {
    torch.ops.aten.transpose.int,
    torch.ops.aten.transpose_copy.int,
    _EDGE.transpose_copy.int,
}
_PERMUTES = {
    torch.ops.aten.permute.default,
    torch.ops.aten.permute_copy.default,
    _EDGE.permute_copy.default,
}


def _order(node: Any) -> list[int] | None:
    """The order of dimensions that a transpose or permute gives; None for other nodes."""
    if not isinstance(node, Node) or node.op != "call_function":
        return None
    if node.target in _PERMUTES:
        rank = len(node.args[1])
        return [dim % rank for dim in node.args[1]]
    if node.target in _SWAPS:
        rank = node.meta["val"].dim()
        order = list(range(rank))
        first, second = (dim % rank for dim in node.args[1:3])
        order[first], order[second] = second, first
        return order
    return None


class RemoveRedundantTransposes(ExportPass):
    """transpose(transpose(x)) that puts dimensions back where they were -> x.

    before: cache -> transpose(1, 2) -> transpose(1, 2) -> sdpa
    after:  cache -> sdpa
    """

    def call(self, graph_module: GraphModule) -> PassResult:
        changed = False
        for node in list(graph_module.graph.nodes):
            outer = _order(node)
            inner = _order(node.args[0]) if outer is not None else None
            if inner is None or [inner[dim] for dim in outer] != sorted(outer):
                continue
            node.replace_all_uses_with(node.args[0].args[0])
            changed = True
        return finished(graph_module, changed)


class ReplaceSDPAWithCustomSDPAPass(ExportPass):
    """scaled_dot_product_attention -> llama::custom_sdpa, which reads (batch, tokens, heads, head); in place.

    A mask loses its leading dimensions of size 1; with `assume_causal_mask` it is left out, and the operator makes a
    causal one. Calls of other ranks, and with a mask for each of a batch, which the operator has not, stay. A query
    whose mask hides every key gets NaN by the operator, where it had zeros.
    """

    def __init__(self, assume_causal_mask: bool = False) -> None:
        super().__init__()
        self.assume_causal_mask = assume_causal_mask

    def call(self, graph_module: GraphModule) -> PassResult:
        from executorch.extension.llm.custom_ops import custom_ops  # noqa: F401

        changed = False
        for node in list(graph_module.graph.nodes):
            if node.op == "call_function" and node.target is _SDPA:
                changed |= self._replace(node)
        return finished(graph_module, changed)

    def _replace(self, node: Node) -> bool:
        names = ("query", "key", "value", "attn_mask", "dropout_p", "is_causal")
        given = {**dict(zip(names, node.args)), **node.kwargs}
        inputs, causal = [given[name] for name in names[:3]], bool(given.get("is_causal", False))
        mask = given.get("attn_mask")
        if self.assume_causal_mask:
            mask, causal = None, True
        if mask is not None:
            inputs.append(mask)
            if any(size != 1 for size in mask.meta["val"].shape[:-2]):
                return False
        if any(each.meta["val"].dim() != 4 for each in inputs[:3]):
            return False
        attention = partial(_custom_sdpa, is_causal=causal, scale=given.get("scale"))
        replace(node, traced_before(node, attention, inputs))
        return True


def _custom_sdpa(
    query: torch.Tensor,
    key: torch.Tensor,
    value: torch.Tensor,
    mask: torch.Tensor | None = None,
    *,
    is_causal: bool,
    scale: float | None,
) -> torch.Tensor:
    rows = [each.transpose(1, 2) for each in (query, key, value)]
    sizes = query.shape[2], key.shape[2]
    if mask is None and not statically_known_true(sizes[0] == sizes[1]):
        # without a mask the operator sees as many keys as there are queries
        mask = torch.ops.aten.full.default(sizes, True, dtype=torch.bool)
        mask, is_causal = mask.tril() if is_causal else mask, False
    elif mask is not None:
        for _ in range(mask.dim() - 2):
            mask = mask.squeeze(0)
        mask = mask.expand(sizes).contiguous() if mask.shape != sizes else mask
    out = torch.ops.llama.custom_sdpa(*rows, 0, mask, 0.0, is_causal, scale)
    return out.transpose(1, 2)


class JoinLinearsOfBlocks(ExportPass):
    """Calls of llama::linear_of_blocks on one x -> one call: x becomes integers once, and threads start once.

    before: x -> linear_of_blocks([q]) -> [0]; x -> linear_of_blocks([k]) -> [0]
    after:  x -> linear_of_blocks([q, k]) -> [0], [1]
    """

    def call(self, graph_module: GraphModule) -> PassResult:
        calls: dict[tuple[Any, ...], list[Node]] = {}
        for node in graph_module.graph.nodes:
            if op_name(node) == _BLOCKS and _reads_one_constant(node):
                calls.setdefault((node.args[0], *node.args[5:]), []).append(node)
        parts = [
            same[at : at + MAX_WEIGHTS]
            for same in calls.values()
            for at in range(0, len(same), MAX_WEIGHTS)
        ]
        joined = [_join(part) for part in parts]
        return finished(graph_module, any(joined))


def _reads_one_constant(call: Node) -> bool:
    return len(call.args[1]) == 1 and all(map(is_constant, call.all_input_nodes[1:]))


def _join(calls: Sequence[Node]) -> bool:
    """Calls of one weight each, in the place of the first; their results' users read the new call."""
    if len(calls) < 2:
        return False
    x, *lists = calls[0].args
    lists = [[each.args[i][0] for each in calls] for i in range(1, 5)]
    call = call_before(calls[0], calls[0].target, (x, *lists, *calls[0].args[5:]))
    for place, each in enumerate(calls):
        for user in list(each.users):
            user.args = (call, place)
    return True


class FuseRows(ExportPass):
    """What layers do with rows between matmuls -> one call each, in a program that calls llama::linear_of_blocks,
    which opens nowhere else anyway.

    before: x * rsqrt(mean(x * x) + eps) * weight       after: llama::rms_norm(x, weight, eps)
    before: pairs of x times cos and sin, joined        after: llama::rotate(x, cos, sin, halves)
    before: x * sigmoid(x) * by                         after: llama::silu_gate(x, by)
    """

    def call(self, graph_module: GraphModule) -> PassResult:
        from executorch.extension.llm.custom_ops import custom_ops  # noqa: F401

        graph, changed = graph_module.graph, False
        if any(op_name(node) == _BLOCKS for node in graph.nodes):
            for node in reversed(list(graph.nodes)):
                changed |= _fuse(node)
        return finished(graph_module, changed)


def _fuse(node: Node) -> bool:
    for pattern, arguments in _ROWS.items():
        found = find(pattern, node) if op_name(node) in pattern.ops else None
        call = None if found is None else arguments(found, node)
        if call is not None:
            name, args = call
            operator = getattr(torch.ops.llama, name).default
            node.replace_all_uses_with(call_before(node, in_dialect_of(node, operator), args))
            return True
    return False


_MUL, _CAT, _SLICE = "aten.mul.Tensor", "aten.cat.default", "aten.slice_copy.Tensor"
_UNSQUEEZE, _VIEW = "aten.unsqueeze_copy.default", "aten.view_copy.default"
_X = Value("x")
Fused = tuple[str, tuple[Any, ...]] | None


def _is_float(*nodes: Any) -> bool:
    return all(isinstance(each, Node) and each.meta["val"].dtype is torch.float32 for each in nodes)


def _norm_of(square: Call) -> Call:
    mean = Call("aten.mean.dim", square, (-1,), True)
    root = Call("aten.rsqrt.default", Call("aten.add.Tensor", mean, Value("eps")))
    return Call(_MUL, Call(_MUL, _X, root, commutes=True), Value("weight"), commutes=True)


def _norm(found: Found, node: Node) -> Fused:
    x, weight, eps = (found.named[name] for name in ("x", "weight", "eps"))
    number = eps.meta.get("lifted_scalar") if isinstance(eps, Node) else eps
    if number is None or not _is_float(x, weight):
        return None
    is_row = list(weight.meta["val"].shape) == [x.meta["val"].shape[-1]]
    return ("rms_norm", (x, weight, float(number))) if is_row else None


def _table(name: str) -> Call:
    """cos or sin, the same for all heads."""
    return Call(_UNSQUEEZE, Value(name), -2, shared=True)


def _turned(first: Any, second: Any) -> tuple[Call, Call]:
    """A number and the one it is a pair with, after the turn."""
    cos, sin = _table("cos"), _table("sin")
    left = Call("aten.sub.Tensor", Call(_MUL, first, cos), Call(_MUL, second, sin))
    return left, Call("aten.add.Tensor", Call(_MUL, first, sin), Call(_MUL, second, cos))


def _neighbors() -> Call:
    pairs = Call(_VIEW, _X)
    numbers = (Call("aten.squeeze_copy.dims", Call(_SLICE, pairs, None, i, i + 1)) for i in (0, 1))
    turned = tuple(Call(_UNSQUEEZE, each) for each in _turned(*numbers))
    return Call(_VIEW, Call(_CAT, turned, -1, name="pairs"))


def _halves() -> Call:
    first, second = Call(_SLICE, _X, name="first"), Call(_SLICE, _X, name="second")
    crossed = Call(_CAT, (Call("aten.neg.default", second), first), -1)
    kept = Call(_MUL, _X, _table("cos"))
    return Call("aten.add.Tensor", kept, Call(_MUL, crossed, _table("sin")))


def _rotation(found: Found, node: Node, halves: bool) -> Fused:
    x, cos, sin = (found.named[name] for name in ("x", "cos", "sin"))
    if not _is_float(x, cos, sin) or shape_of(x) != shape_of(node) or len(shape_of(x)) < 3:
        return None
    width = shape_of(x)[-1]
    if halves:
        last, half = len(shape_of(x)) - 1, width // 2
        parts = [list(found.named[name].args[1:]) for name in ("first", "second")]
        fits = parts[0] == [last, 0, half] and parts[1][:2] == [last, half]
        fits = fits and len(parts[1]) == 3 and parts[1][2] >= width
    else:
        fits = shape_of(found.named["pairs"])[-2:] == [width // 2, 2]
    columns = width if halves else width // 2
    rows = shape_of(x)[-3]
    fits = fits and all(shape_of(each) == [rows, columns] for each in (cos, sin))
    return ("rotate", (x, cos, sin, halves)) if fits else None


def _gate(found: Found, node: Node) -> Fused:
    x, by = found.named["x"], found.named["by"]
    fits = _is_float(x, by) and shape_of(x) == shape_of(by)
    return ("silu_gate", (x, by)) if fits else None


# What a result looks like -> the operator and its arguments, or None where it only looks so.
_ROWS: dict[Call, Callable[[Found, Node], Fused]] = {
    _norm_of(Call(_MUL, _X, _X)): _norm,
    _neighbors(): partial(_rotation, halves=False),
    _halves(): partial(_rotation, halves=True),
    Call(
        _MUL,
        Call(_MUL, _X, Call("aten.sigmoid.default", _X), commutes=True),
        Value("by"),
        commutes=True,
    ): _gate,
}
