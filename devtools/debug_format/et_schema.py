# SPDX-License-Identifier: BSD-3-Clause
"""The graph of a model of the compiler in the form of base_schema.py."""

from __future__ import annotations

import operator
import re
from collections.abc import Iterable
from typing import Any

import torch
from torch.fx import GraphModule, Node

from executorch.devtools.debug_format.base_schema import (
    Node as FormatNode,
)
from executorch.devtools.debug_format.base_schema import OperatorGraph, OperatorNode, ValueNode
from executorch.exir import memory

__all__ = ["FXOperatorGraph", "OperatorGraph", "OperatorNode", "ValueNode"]


class FXOperatorGraph(OperatorGraph):
    """A graph "base" of three: "inputs", "forward" (operators, their numbers as values of their own) and "outputs"."""

    @staticmethod
    def gen_operator_graph(
        model: GraphModule,
        skip_stack_trace: bool | None = False,
        enable_module_hierarchy: bool = False,
    ) -> FXOperatorGraph:
        """Stands for `model`; operators have their debug handle, stack trace and, if asked for, module hierarchy as
        metadata. Branches and bodies of control flow are graphs among the operators, named as the attribute."""
        return _Walk(bool(skip_stack_trace), enable_module_hierarchy).run(model)


class _Walk:
    def __init__(self, skip_stack_trace: bool, with_modules: bool) -> None:
        self._skip_stack_trace, self._with_modules = skip_stack_trace, with_modules
        self._of_node: dict[Node, FormatNode] = {}
        self._inputs: list[Any] = []
        self._forward: list[Any] = []
        self._outputs: list[Any] = []
        self._num_values = 0

    def run(self, model: GraphModule, name: str = "base") -> FXOperatorGraph:
        for node in model.graph.nodes:
            self._visit(node)
            inner = getattr(model, str(node.target), None) if node.op == "get_attr" else None
            if isinstance(inner, GraphModule):
                walk = _Walk(self._skip_stack_trace, self._with_modules)
                self._forward.append(walk.run(inner, str(node.target)))
        parts = (("inputs", self._inputs), ("forward", self._forward), ("outputs", self._outputs))
        return FXOperatorGraph(name, [FXOperatorGraph(part, items) for part, items in parts])

    def _visit(self, node: Node) -> None:
        name = f"{node.name}_"
        if node.op == "placeholder":
            made = ValueNode(name, [], _shapes(node), {}, dtype=_dtypes(node))
            self._inputs.append(made)
        elif node.op == "output":
            sources = [
                self._of_node[each] for each in node.all_input_nodes if each in self._of_node
            ]
            made = ValueNode(name, sources, _shapes(node), {}, dtype=_dtypes(node))
            self._outputs.append(made)
        elif node.op == "get_attr":
            made = ValueNode(name, [], None, {}, dtype="")
            self._forward.append(made)
        elif node.target in (operator.getitem, memory.alloc):
            sources = [each for each in node.all_input_nodes if each in self._of_node]
            if sources:  # a tuple's items go by the name of what made it
                self._of_node[node] = self._of_node[sources[0]]
            return
        else:
            made = self._operator(node, name)
        self._of_node[node] = made

    def _operator(self, node: Node, name: str) -> OperatorNode:
        inputs = [made for made in map(self._argument, node.args) if made is not None]
        inputs += [made for made in map(self._argument, node.kwargs.values()) if made is not None]
        made = OperatorNode(
            name, inputs, _shapes(node), self._metadata(node), _argument_names(node), _op_name(node)
        )
        self._forward.append(made)
        return made

    def _argument(self, value: Any) -> FormatNode | None:
        if isinstance(value, Node):
            return self._of_node.get(value)
        if isinstance(value, (list, tuple)) and any(isinstance(item, Node) for item in value):
            found = [self._of_node[each] for each in value if isinstance(each, Node)]
            made = ValueNode(f"ARG_{self._num_values}", found, None, {})
        elif value is None:
            return None
        else:
            made = ValueNode(f"CONST_{self._num_values}", [], None, {}, val=value)
        self._num_values += 1
        self._forward.append(made)
        return made

    def _metadata(self, node: Node) -> dict[str, Any]:
        wanted = {"debug_handle": node.meta.get("debug_handle")}
        if not self._skip_stack_trace:
            wanted["stack_trace"] = node.meta.get("stack_trace")
        if self._with_modules:
            wanted["nn_module_stack"] = node.meta.get("nn_module_stack")
        return {key: value for key, value in wanted.items() if value is not None}


def _op_name(node: Node) -> str:
    """ "aten.add.Tensor"."""
    if node.op == "call_function":
        name = getattr(node.target, "__name__", str(node.target))
        schema = getattr(getattr(node.target, "_op", node.target), "_schema", None)
        if schema is None:
            return name
        return f"{schema.name.replace('::', '.')}.{schema.overload_name or 'default'}"
    return re.sub(r"\W", "_", str(node.target))


def _argument_names(node: Node) -> list[str]:
    schema = getattr(getattr(node.target, "_op", node.target), "_schema", None)
    return [] if schema is None else [argument.name for argument in schema.arguments]


def _values(node: Node) -> Iterable[torch.Tensor]:
    value = node.meta.get("val")
    if value is None and node.op == "output":
        value = [each.meta.get("val") for each in node.all_input_nodes]
    items = value if isinstance(value, (list, tuple)) else [value]
    return [item for item in items if isinstance(item, torch.Tensor)]


def _shapes(node: Node) -> list[Any]:
    return [list(value.shape) for value in _values(node)]


def _dtypes(node: Node) -> Any:
    return [value.dtype for value in _values(node)]
