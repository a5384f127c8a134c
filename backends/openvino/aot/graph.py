# SPDX-License-Identifier: BSD-3-Clause
"""A delegate's program as OpenVINO's frontend reads it: data as attributes, memory formats in place of dim orders.

before: %w = placeholder; %y = _clone_dim_order(%x, dim_order=[0, 2, 3, 1])     after: %w = get_attr; %y = clone(%x)
"""

from __future__ import annotations

import torch
from torch.export import ExportedProgram
from torch.fx import Graph, GraphModule, Node

from executorch.exir.backend.lowering.constants import Constants
from executorch.exir.graph_facts import op_name, without_dialect

_CLONE = "dim_order_ops._clone_dim_order.default"
_TO = "dim_order_ops._to_dim_order_copy.default"


def graph_for_frontend(program: ExportedProgram) -> GraphModule:
    constants = Constants(program)
    root, graph = torch.nn.Module(), Graph()
    new: dict[Node, Node] = {}
    for node in program.graph.nodes:
        if node in constants:
            name = f"data_{node.name}"
            root.register_buffer(name, constants[node].detach().contiguous())
            new[node] = graph.get_attr(name)
            new[node].meta = dict(node.meta)
        else:
            new[node] = graph.node_copy(node, new.__getitem__)
            _adapt(new[node])
    return GraphModule(root, graph)


def _adapt(node: Node) -> None:
    """Calls of torch's operators, without what the frontend does not know."""
    name = op_name(node)
    if name == _CLONE:
        node.target, node.kwargs = torch.ops.aten.clone.default, {}
    elif name == _TO:
        dtype = node.meta["val"].dtype
        node.target, node.kwargs = torch.ops.aten._to_copy.default, {"dtype": dtype}
    elif node.op == "call_function":
        node.target = without_dialect(node.target)
