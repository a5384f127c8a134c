# SPDX-License-Identifier: BSD-3-Clause
"""Integers are divided and rounded down in float64, since inductor rounds towards zero (pytorch issue 186164). Exact
for quotients below 2^53.

before: floor_divide(%x, 3)      after: _to_copy(floor(_to_copy(%x, float64) / 3), int64)
"""

from __future__ import annotations

from typing import Any

import torch
from torch.fx import GraphModule, Node
from torch.fx.passes.infra.pass_base import PassBase, PassResult

from executorch.exir.dialects.edge._ops import EdgeOpOverload, edge_op_of
from executorch.exir.graph_facts import argument, called_op

_ATEN = torch.ops.aten
_INTEGERS = (torch.int32, torch.int64)
_WITH_MODE = (_ATEN.div.Tensor_mode, _ATEN.div.Scalar_mode)


class ReplaceInt64FloorDivWithFloatPass(PassBase):
    def call(self, graph_module: GraphModule) -> PassResult:
        found = [node for node in graph_module.graph.nodes if _rounds_integers_down(node)]
        for node in found:
            _replace(node)
        if found:
            graph_module.recompile()
        return PassResult(graph_module, bool(found))


def _rounds_integers_down(node: Node) -> bool:
    op = called_op(node)
    is_floor = op in _WITH_MODE and argument(node, "rounding_mode") == "floor"
    if op is not _ATEN.floor_divide.default and not is_floor:
        return False
    return node.meta["val"].dtype in _INTEGERS


def _replace(node: Node) -> None:
    """In the dialect of the call."""
    is_edge = isinstance(node.target, EdgeOpOverload)

    def call(op: torch._ops.OpOverload, *args: Any, **rest: Any) -> Node:
        made = node.graph.call_function(edge_op_of(op) if is_edge else op, args, rest)
        values = [each.meta["val"] if isinstance(each, Node) else each for each in args]
        made.meta = {**node.meta, "val": op(*values, **rest)}
        return made

    with node.graph.inserting_before(node):
        left, right = (
            call(_ATEN._to_copy.default, each, dtype=torch.float64)
            if isinstance(each, Node)
            else each
            for each in node.args[:2]
        )
        divide = _ATEN.div.Tensor if isinstance(right, Node) else _ATEN.div.Scalar
        whole = call(_ATEN.floor.default, call(divide, left, right))
        result = call(_ATEN._to_copy.default, whole, dtype=node.meta["val"].dtype)
    node.replace_all_uses_with(result)
    node.graph.erase_node(node)
