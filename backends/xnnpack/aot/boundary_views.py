# SPDX-License-Identifier: BSD-3-Clause
"""Reshapes at the ends of a delegate are not delegated: there they share memory, inside they are copies.

before: delegate(%x) of %a = view_copy(%x); %b = mul(%a, %a); %c = view_copy(%b)
after:  %a = view_copy(%x); %b = delegate(%a); %c = view_copy(%b)
"""

from __future__ import annotations

import torch
from torch.fx import Node

from executorch.backends.xnnpack.aot.ops import TABLE
from executorch.exir.graph_facts import op_name
from executorch.exir.passes.replace_view_copy_with_view_pass import shares_memory_as_view


def without_boundary_views(nodes: list[Node]) -> list[Node]:
    """`nodes` of one delegate, in the graph's order."""
    inside = dict.fromkeys(nodes)
    plain = _surely_plain(nodes)
    for node in nodes:
        if _is_free(node) and node.args[0] not in inside and _is_computed(node.args[0]):
            del inside[node]
    for node in reversed(nodes):
        if (
            node in inside
            and _is_free(node)
            and node.args[0] in plain
            and node.args[0] in inside
            and all(user.op != "output" and user not in inside for user in node.users)
        ):
            del inside[node]
    return list(inside)


def _surely_plain(nodes: list[Node]) -> set[Node]:
    """Those whose values do not lie channels last. Of such a value a reshape inside may be the one that needs no
    transpose."""
    others: set[Node] = set()
    for node in nodes:
        row = TABLE.get(op_name(node))
        follows = any(source in others for source in node.all_input_nodes)
        if follows or row is None or row.chooses_layout:
            others.add(node)
    return {node for node in nodes if node not in others}


def _is_free(node: Node) -> bool:
    """A reshape of a dense tensor of static sizes: no instruction where it is not delegated."""
    return shares_memory_as_view(node) and all(
        isinstance(value, torch.Tensor)
        and all(isinstance(size, int) for size in value.shape)
        and value.is_contiguous()
        for value in (node.meta["val"], node.args[0].meta["val"])
    )


def _is_computed(source: Node) -> bool:
    """Not an argument of the method: what is written there may be read later."""
    while shares_memory_as_view(source):
        source = source.args[0]
    return source.op == "call_function"
