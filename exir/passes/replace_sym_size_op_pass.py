# SPDX-License-Identifier: BSD-3-Clause
"""Arithmetic on sizes becomes operators that the runtime's core carries out.

before: %n = operator.mul(%s, 2)                 after: %n = executorch_prim.mul.Scalar(%s, 2)

A file's remainder is that of C++, Python's has the sign of its divisor: where a side may be negative, a % b becomes
a - a // b * b.
"""

from __future__ import annotations

import operator
from typing import Any

from torch.fx import GraphModule, Node
from torch.fx.passes.infra.pass_base import PassBase, PassResult

from executorch.exir.dialects.backend._ops import backend_op_of
from executorch.exir.dialects.edge._ops import EdgeOpOverload
from executorch.exir.error import ExportError, ExportErrorType
from executorch.exir.passes.executorch_prim_ops_registry import (
    _PYTHON_SYM_OPS_TO_EXECUTORCH_SYM_OPS as PRIM_OPS,
)
from executorch.exir.passes.executorch_prim_ops_registry import UNSUPPORTED_SYM_OPS
from executorch.exir.sym_util import never_negative


class ReplaceSymSizeOpPass(PassBase):
    """All operations the runtime lacks are reported in one error."""

    def call(self, graph_module: GraphModule) -> PassResult:
        missing: list[str] = []
        for module in graph_module.modules():
            if not isinstance(module, GraphModule):
                continue
            for node in module.graph.find_nodes(op="call_function", target=operator.mod):
                if not all(never_negative(_value(side)) for side in node.args):
                    _floor_remainder(node)
            for node in module.graph.nodes:
                if node.op != "call_function" or isinstance(node.target, EdgeOpOverload):
                    continue
                if node.target in PRIM_OPS:
                    node.target = backend_op_of(PRIM_OPS[node.target])
                elif node.target in UNSUPPORTED_SYM_OPS:
                    missing.append(f"{node.name} = {node.target.__name__}{node.args}")
        if missing:
            raise ExportError(
                ExportErrorType.NOT_SUPPORTED,
                f"the runtime has no scalar operation for: {'; '.join(missing)}. Compute it with "
                "+, -, *, //, %, comparisons, torch.sym_max or torch.sym_min",
            )
        return PassResult(graph_module, True)


def _value(side: Any) -> Any:
    return side.meta["val"] if isinstance(side, Node) else side


def _floor_remainder(node: Node) -> None:
    """a % b written as a - a // b * b."""
    a, b = node.args
    node.target = operator.sub
    with node.graph.inserting_before(node):
        quotient = node.graph.call_function(operator.floordiv, (a, b))
        product = node.graph.call_function(operator.mul, (quotient, b))
    quotient.meta = {**node.meta, "val": _value(a) // _value(b)}
    product.meta = {**node.meta, "val": quotient.meta["val"] * _value(b)}
    node.args = (a, product)
