# SPDX-License-Identifier: BSD-3-Clause
"""The graph of an exported program, edge dialect or not: nodes with their modules, lines, ranges and weights."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from dataclasses import replace
from typing import Any

import torch
from torch.export import ExportedProgram
from torch.export.graph_signature import InputKind, InputSpec
from torch.fx import GraphModule, Node
from torch.utils import _pytree as pytree

from executorch.devtools.commands.origins import origin_of
from executorch.devtools.commands.view.graph import (
    INPUT,
    OUTPUT,
    GraphNode,
    Weight,
    described,
)
from executorch.devtools.commands.view.weights import weight_of
from executorch.exir.backend.lowering.quantized import is_dequantize, is_quantize
from executorch.exir.backend.lowering.quantized_values import static_ranges
from executorch.exir.graph_facts import data_specs, holder_of

Known = Callable[[GraphNode, int | None], GraphNode]  # a node with what its debug handle tells


def nodes_of(program: ExportedProgram, known: Known) -> list[GraphNode]:
    """Parameters and buffers are their readers' weights; a tuple's items are the call that gives it. Branches are
    modules of their own."""
    reader = _Reader(program, known)
    reader.add(program.graph_module, "")
    return _in_modules(reader.found, reader.without_module)


def _in_modules(nodes: Sequence[GraphNode], without: set[int]) -> list[GraphNode]:
    """What a transformation put in, such as quantization, belongs to the module of what it reads, or of its reader."""
    modules = [node.module for node in nodes]
    for place in sorted(without):
        read = [modules[each] for each in nodes[place].inputs if nodes[each].is_call]
        modules[place] = modules[place] or next(filter(None, read), "")
    readers: dict[int, int] = {}
    for place, node in enumerate(nodes):
        for each in node.inputs:
            readers.setdefault(each, place)
    for place in sorted(without, reverse=True):
        if not modules[place] and place in readers:
            modules[place] = modules[readers[place]]
    return [replace(node, module=module) for node, module in zip(nodes, modules, strict=True)]


class _Reader:
    def __init__(self, program: ExportedProgram, known: Known) -> None:
        self.found: list[GraphNode] = []
        self.without_module: set[int] = set()
        self._program, self._known = program, known
        self._places: dict[Node, int] = {}
        self._data = data_specs(program)
        self._weights: dict[Node, Weight] = {}
        self._limits = {each.node: each.limits for each in static_ranges(program)}

    def add(self, module: GraphModule, inside: str) -> None:
        for node in module.graph.nodes:
            if node.op == "placeholder" and node in self._data:
                continue
            if node.op == "get_attr":
                inner = getattr(module, str(node.target), None)
                if isinstance(inner, GraphModule):
                    self.add(inner, f"{inside}.{node.target}" if inside else str(node.target))
                continue
            source = node.all_input_nodes[0] if node.all_input_nodes else None
            if getattr(node.target, "__name__", "") == "getitem" and source in self._places:
                self._places[node] = self._places[source]
                continue
            self._places[node] = len(self.found)
            if is_quantize(node) or is_dequantize(node) or _is_inserted(node):
                self.without_module.add(len(self.found))
            self.found.append(self._made(node, inside))

    def _made(self, node: Node, inside: str) -> GraphNode:
        origin = origin_of(node)
        is_call = node.op == "call_function"
        operator = origin.operator if is_call else OUTPUT if node.op == "output" else INPUT
        places = [self._places[each] for each in node.all_input_nodes if each in self._places]
        read = [each for each in node.all_input_nodes if each in self._data]
        module = ".".join(filter(None, (origin.module if is_call else "", inside)))
        weights = tuple(self._weight(each) for each in read)
        made = GraphNode(
            node.name,
            operator,
            module,
            origin.place,
            origin.source,
            tuple(dict.fromkeys(places)),
            () if node.op == "output" else tuple(_described(node)),
            num_bytes=sum(each.num_bytes for each in weights),
            weights=weights,
            limits=self._limits.get(node),
        )
        handle = node.meta.get("debug_handle") if is_call else None
        return self._known(made, handle if isinstance(handle, int) else None)

    def _weight(self, node: Node) -> Weight:
        """Its bytes count once, where it is read first."""
        if node in self._weights:
            return replace(self._weights[node], num_bytes=0)
        kind = next(_described(node), "")
        value = self._value(self._data[node])
        held = node.meta.get("val")
        size = held.numel() * held.element_size() if isinstance(held, torch.Tensor) else 0
        made = weight_of(str(self._data[node].target), kind, size, value)
        self._weights[node] = made
        return made

    def _value(self, spec: InputSpec) -> torch.Tensor | None:
        if spec.kind == InputKind.USER_INPUT or spec.target is None:
            return None
        value = holder_of(self._program, spec.target).get(spec.target)
        is_known = isinstance(value, torch.Tensor) and type(value).__name__ != "FakeTensor"
        return value if is_known and value.device.type == "cpu" else None


def _is_inserted(node: Node) -> bool:
    return node.op == "call_function" and not node.meta.get("nn_module_stack")


def _described(node: Node) -> Iterator[str]:
    for value in pytree.tree_leaves(node.meta.get("val")):
        if isinstance(value, torch.Tensor):
            yield described(str(value.dtype).removeprefix("torch."), value.shape, _dim_order(value))
        elif value is not None:
            yield type(value).__name__


def _dim_order(value: Any) -> tuple[int, ...] | None:
    """None where sizes are not known."""
    is_static = all(isinstance(size, int) for size in (*value.shape, *value.stride()))
    return tuple(value.dim_order()) if is_static and value.layout == torch.strided else None
