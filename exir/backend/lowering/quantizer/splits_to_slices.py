# SPDX-License-Identifier: BSD-3-Clause
"""What a captured graph becomes before it is annotated.

before: split(x, 2, dim=1)[1]     after: slice(x, 1, 2, 4)"""

from __future__ import annotations

import operator

import torch
from torch.fx import GraphModule, Node

_SPLITS = (
    "aten.split.Tensor",
    "aten.split_with_sizes.default",
    "aten.chunk.default",
    "aten.unbind.int",
)


def splits_to_slices(model: GraphModule) -> None:
    """Each item has a quantization of its own then, which it shares with what is split."""
    for node in list(model.graph.nodes):
        if str(node.target) not in _SPLITS:
            continue
        items = list(node.users)
        if any(each.target is not operator.getitem for each in items):
            continue
        sizes = [each.shape for each in node.meta["val"]]
        for item in items:
            with model.graph.inserting_before(item):
                made = _item(model, node, item.args[1], sizes)
            made.meta = dict(item.meta)
            item.replace_all_uses_with(made)
            model.graph.erase_node(item)
        model.graph.erase_node(node)
    model.recompile()


def _item(model: GraphModule, node: Node, place: int, sizes: list[torch.Size]) -> Node:
    source = node.args[0]
    if str(node.target) == "aten.unbind.int":
        dim = node.args[1] if len(node.args) > 1 else 0
        return model.graph.call_function(torch.ops.aten.select.int, (source, dim, place))
    dim = node.args[2] if len(node.args) > 2 else node.kwargs.get("dim", 0)
    start = sum(size[dim] for size in sizes[:place])
    end = start + sizes[place][dim]
    return model.graph.call_function(torch.ops.aten.slice.Tensor, (source, dim, start, end))
