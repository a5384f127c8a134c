# SPDX-License-Identifier: BSD-3-Clause
"""XNNPACK multiplies matrices with any number of batch dimensions, the second one transposed if need be; a call that
only brings them to the form of ATen's bmm costs a copy.

before: %a = view(%q, [12, 197, 64]); %t = permute(view(%k, [12, 197, 64]), [0, 2, 1]); %c = bmm(%a, %t)
        %s = softmax(%c); %r = view(%s, [1, 12, 197, 197])
after:  %c = bmm(%q, %k) of four dimensions, %k transposed; %r = softmax(%c)"""

from __future__ import annotations

from typing import Any

import torch
from torch.export import ExportedProgram
from torch.fx import Node, map_arg

from executorch.exir.graph_facts import num_dynamic_sizes, op_name

_VIEW = "aten.view_copy.default"
_PERMUTE = "aten.permute_copy.default"
_MATMUL = "aten.bmm.default"
_SOFTMAX = "aten._softmax.default"
_ELEMENTWISE = frozenset({"aten.add.Tensor", "aten.mul.Tensor", "aten.div.Tensor"})
_TRANSPOSED = "xnnpack_transposed"


def unfold_batches(program: ExportedProgram) -> None:
    """Views that fold batch dimensions move behind what computes on them, where they meet their reverse; for a
    program that is lowered next, see is_transposed()."""
    graph = program.graph
    for node in list(graph.nodes):
        if op_name(node) == _VIEW:
            _drop_reverse(node)
        else:
            _put_view_behind(node)
    for node in graph.nodes:
        if op_name(node) == _MATMUL and _swaps_matrix(node.args[1]):
            node.args = (node.args[0], node.args[1].args[0])
            node.meta[_TRANSPOSED] = True
    graph.eliminate_dead_code()
    program.graph_module.recompile()


def is_transposed(matmul: Node) -> bool:
    """Whether the second operand is multiplied transposed."""
    return matmul.meta.get(_TRANSPOSED, False)


def _drop_reverse(view: Node) -> None:
    source = view.args[0]
    if op_name(source) == _VIEW and _sizes(source.args[0]) == _sizes(view):
        view.replace_all_uses_with(source.args[0])


def _put_view_behind(node: Node) -> None:
    """before: %a = view(%x); %b = softmax(%a)     after: %s = softmax(%x); %b = view(%s)"""
    found = _on_unfolded(node)
    if found is None:
        return
    args, leading = found
    view = next(each for each in node.all_input_nodes if _is_folded(each))
    value = node.meta["val"]
    with node.graph.inserting_after(node):
        unfolded = node.graph.create_node("call_function", node.target, args, node.kwargs)
        unfolded.meta = {**node.meta, "val": value.new_empty([*leading, *value.shape[-2:]])}
    with node.graph.inserting_after(unfolded):
        folded = node.graph.create_node("call_function", view.target, (unfolded, _open(value)))
        folded.meta = dict(node.meta)
    node.replace_all_uses_with(folded)


def _on_unfolded(node: Node) -> tuple[tuple[Any, ...], torch.Size] | None:
    """The arguments before their views, and the batch dimensions of the result; None for what keeps its views."""
    if not _works_on_matrices(node) or _rank(node) != 3 or num_dynamic_sizes(node) > 1:
        return None  # with two dynamic sizes, a view behind it could not be written
    name, operands = op_name(node), node.all_input_nodes
    sources = [each.args[0] if _is_folded(each) else each for each in operands]
    batches = {tuple(_sizes(each)[:-2]): each.meta["val"].shape[:-2] for each in sources}
    if name in _ELEMENTWISE:  # broadcasts over what is left out or 1
        batches = {key: sizes for key, sizes in batches.items() if set(key) - {"1"}}
    if len(batches) != 1:
        return None
    (leading,) = batches.values()
    if len(leading) < 2:
        return None
    if name == _PERMUTE:
        return (sources[0], _swapped(len(leading) + 2)), leading
    if name == _SOFTMAX:
        return (sources[0], -1, *node.args[2:]), leading
    before = dict(zip(operands, sources, strict=True))
    return map_arg(node.args, before.__getitem__), leading


def _works_on_matrices(node: Node) -> bool:
    """Whether it does the same with each matrix of a batch, whatever the batch dimensions are."""
    name = op_name(node)
    if name == _SOFTMAX:
        return node.args[1] in (-1, _rank(node) - 1)
    return name == _MATMUL or name in _ELEMENTWISE or _swaps_matrix(node)


def _is_folded(node: Node) -> bool:
    """A view that makes one dimension of all but the last two."""
    if op_name(node) != _VIEW or _rank(node) != 3 or _rank(node.args[0]) <= 3:
        return False
    return _sizes(node)[-2:] == _sizes(node.args[0])[-2:]


def _swaps_matrix(node: Node) -> bool:
    """Whether it transposes the last two dimensions and leaves the others."""
    if op_name(node) != _PERMUTE:
        return False
    rank = _rank(node)
    return [dim % rank for dim in node.args[1]] == _swapped(rank)


def _swapped(rank: int) -> list[int]:
    return [*range(rank - 2), rank - 1, rank - 2]


def _rank(node: Node) -> int:
    return node.meta["val"].dim()


def _sizes(node: Node) -> list[str]:
    """Compared without a guard on dynamic ones."""
    return [str(size) for size in node.meta["val"].shape]


def _open(value: torch.Tensor) -> list[int]:
    """-1 for the dynamic one."""
    return [-1 if isinstance(size, torch.SymInt) else size for size in value.shape]
