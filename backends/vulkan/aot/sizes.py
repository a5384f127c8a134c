# SPDX-License-Identifier: BSD-3-Clause
"""Calls that compute sizes go with what reads them: a delegate takes and gives tensors.

before: %s = sym_size(%x, 1); f(%x, %s); g(%x, %s)
after:  %s = sym_size(%x, 1); f(%x, %s); %t = sym_size(%x, 1); g(%x, %t)
"""

from __future__ import annotations

import torch
from torch.fx import Graph, Node

from executorch.exir.graph_facts import call_name


def is_size(node: Node) -> bool:
    """A call that may be repeated: a size, or what is computed of sizes."""
    name = call_name(node)
    is_of_sizes = name == "aten.sym_size.int" or name.startswith("operator.")
    values = (torch.SymInt, torch.SymBool)
    return is_of_sizes and name != "operator.getitem" and isinstance(node.meta.get("val"), values)


def split_sizes(graph: Graph) -> None:
    """Each reader gets calls of its own."""
    for node in reversed(list(graph.nodes)):
        if not is_size(node):
            continue
        for user in list(node.users)[1:]:
            with graph.inserting_before(node):
                copy = graph.node_copy(node)
            user.replace_input_with(node, copy)


def sizes_read(node: Node) -> list[Node]:
    """Calls of sizes that a call reads, each behind what it reads."""
    direct = [each for each in node.all_input_nodes if is_size(each)]
    return [found for each in direct for found in (*sizes_read(each), each)]
