# SPDX-License-Identifier: BSD-3-Clause
"""Equal calls are made once.

before: %a = sin(%x); %b = sin(%x); add(%a, %b)  after: %a = sin(%x); add(%a, %a)
"""

from __future__ import annotations

from typing import Any

import torch
from torch.fx import GraphModule, Node
from torch.fx.passes.infra.pass_base import PassResult

from executorch.exir.graph_facts import is_pure, without_dialect
from executorch.exir.pass_base import ExportPass


class CSEPass(ExportPass):
    """Works in place, each graph on its own. Random operators and operators that write are left alone."""

    # Random ones by the names of their schemas; a subclass may have another set.
    UNSAFE_OPS: frozenset[str] = frozenset(
        f"aten::{name}"
        for name in (
            "bernoulli", "dropout", "multinomial", "native_dropout", "normal", "rand", "rand_like",
            "randint", "randint_like", "randn", "randn_like", "randperm", "uniform",
        )
    )  # fmt: skip

    def call(self, graph_module: GraphModule) -> PassResult:
        modified = False
        for module in graph_module.modules():
            if isinstance(module, GraphModule):
                modified = _share(module, self.UNSAFE_OPS) or modified
        if modified:
            graph_module.recompile()
        return PassResult(graph_module, modified)


def _share(module: GraphModule, unsafe: frozenset[str]) -> bool:
    first: dict[Any, Node] = {}
    modified = False
    outputs = {n for out in module.graph.find_nodes(op="output") for n in out.all_input_nodes}
    for node in list(module.graph.nodes):
        if not _is_repeatable(node, unsafe):
            continue
        twin = first.setdefault(_key(node), node)
        if twin is not node and not (twin in outputs and node in outputs):
            node.replace_all_uses_with(twin)
            module.graph.erase_node(node)
            modified = True
    return modified


def _is_repeatable(node: Node, unsafe: frozenset[str]) -> bool:
    if node.op != "call_function":
        return False
    op = without_dialect(node.target)
    if isinstance(op, torch._ops.HigherOrderOperator):
        return False
    if not isinstance(op, torch._ops.OpOverload):
        return True
    return op._schema.name not in unsafe and is_pure(op)


def _key(node: Node) -> Any:
    return (node.target, _frozen(node.args), _frozen(sorted(node.kwargs.items())))


def _frozen(tree: Any) -> Any:
    if isinstance(tree, list | tuple):
        return (type(tree).__name__, *map(_frozen, tree))
    return (type(tree).__name__, repr(tree)) if isinstance(tree, bool | int | float) else tree
