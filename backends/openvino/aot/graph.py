# SPDX-License-Identifier: BSD-3-Clause
"""A delegate's program as OpenVINO's frontend reads it: data as attributes, memory formats in place of dim orders.

before: %w = placeholder; %y = _clone_dim_order(%x, dim_order=[0, 2, 3, 1])     after: %w = get_attr; %y = clone(%x)
before: %f = dequantize(%int8_data, ...)             after: %f = dequantize(quantize(%float_data, ...), ...), equal
"""

from __future__ import annotations

import torch
from torch.export import ExportedProgram
from torch.fx import Graph, GraphModule, Node
from torch.fx.node import map_arg

from executorch.backends.openvino.aot.ops import MAKERS
from executorch.backends.openvino.aot.quantized import is_dequantize
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
            new[node] = _data(node, constants[node].detach(), root, graph)
        elif op_name(node) in MAKERS:
            new[node] = _data(
                node, without_dialect(node.target)(*node.args, **node.kwargs), root, graph
            )
        elif is_dequantize(node) and all(each in constants for each in node.all_input_nodes):
            new[node] = _rounded(node, constants, root, graph, new)
        else:
            new[node] = graph.node_copy(node, new.__getitem__)
            _adapt(new[node])
    return GraphModule(root, graph)


def _data(node: Node, value: torch.Tensor, root: torch.nn.Module, graph: Graph) -> Node:
    """An attribute in place of what gives `value`."""
    name = f"data_{node.name}"
    root.register_buffer(name, value.contiguous())
    made = graph.get_attr(name)
    made.meta = dict(node.meta)
    return made


def _rounded(
    node: Node, constants: Constants, root: torch.nn.Module, graph: Graph, new: dict[Node, Node]
) -> Node:
    """Dequantized data. The frontend knows a quantize of floats alone; theirs gives the data again, and OpenVINO stores
    8 bits. Wider integers are floats from here on."""
    args, kwargs = map_arg((node.args, node.kwargs), constants.__getitem__)
    with torch.no_grad():
        found = without_dialect(node.target)(*args, **kwargs)
    floats = _data(node, found, root, graph)
    if args[0].dtype not in (torch.int8, torch.uint8):
        return floats
    family = torch.ops.quantized_decomposed
    is_by_channel = "per_channel" in op_name(node)
    rounds = family.quantize_per_channel if is_by_channel else family.quantize_per_tensor
    parameters = map_arg(node.args[1:], new.__getitem__)
    rounded = graph.call_function(rounds.default, (floats, *parameters))
    rounded.meta = {**node.meta, "val": node.args[0].meta["val"]}
    found = graph.call_function(without_dialect(node.target), (rounded, *parameters), node.kwargs)
    found.meta = dict(node.meta)
    return found


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
