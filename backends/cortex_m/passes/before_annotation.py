# SPDX-License-Identifier: BSD-3-Clause
"""Rewrites of captured graphs, before they are annotated: what has an operator of the backend in another form.

adaptive_avg_pool2d(x, 1)  ->  avg_pool2d(x, [H, W], [H, W])        matmul(a, b) of matrices  ->  bmm"""

from __future__ import annotations

import torch
from torch.fx import GraphModule, Node

_ATEN = torch.ops.aten


def drop_guards(model: GraphModule) -> None:
    """torch.export's module checks its inputs in a call of a module, which no pass knows."""
    for node in list(model.graph.find_nodes(op="call_module", target="_guards_fn")):
        model.graph.erase_node(node)
    model.recompile()


def full_means(model: GraphModule) -> None:
    """Where windows are of one size."""
    for node in model.graph.find_nodes(
        op="call_function", target=_ATEN.adaptive_avg_pool2d.default
    ):
        sizes, made = node.args[0].meta["val"].shape[-2:], node.meta["val"].shape[-2:]
        is_static = all(isinstance(each, int) for each in (*sizes, *made))
        if is_static and all(a % b == 0 for a, b in zip(sizes, made, strict=True)):
            window = [a // b for a, b in zip(sizes, made, strict=True)]
            node.target = _ATEN.avg_pool2d.default
            node.args = (node.args[0], window, window)
    model.recompile()


def matmul_to_bmm(model: GraphModule) -> None:
    """With ranks beyond three the leading dimensions become one."""
    for node in list(model.graph.find_nodes(op="call_function", target=_ATEN.matmul.default)):
        a, b = (each.meta["val"] for each in node.args)
        if a.dim() < 3 or a.shape[:-2] != b.shape[:-2]:
            continue
        if a.dim() == 3:
            node.target = _ATEN.bmm.default
            continue
        flat = [_view(node, each, [-1, *each.meta["val"].shape[-2:]]) for each in node.args]
        value = node.meta["val"]
        with node.graph.inserting_before(node):
            product = node.graph.call_function(_ATEN.bmm.default, tuple(flat))
        product.meta = {**node.meta, "val": value.reshape(-1, *value.shape[-2:])}
        node.target, node.args = _ATEN.reshape.default, (product, list(value.shape))
    model.recompile()


def _view(before: Node, source: Node, sizes: list[int]) -> Node:
    with before.graph.inserting_before(before):
        view = before.graph.call_function(_ATEN.reshape.default, (source, sizes))
    view.meta = {**before.meta, "val": source.meta["val"].reshape(sizes)}
    return view


REWRITES = (drop_guards, full_means, matmul_to_bmm)
