# SPDX-License-Identifier: BSD-3-Clause
"""The rules of the dialects. Each check walks the graph once and reports all offending nodes together."""

from __future__ import annotations

import builtins
import inspect
import math
import operator
from typing import Any

import torch
from torch._export.verifier import Verifier
from torch.export import ExportedProgram
from torch.fx import GraphModule

from executorch.exir.dialects.edge._ops import EdgeOpOverload
from executorch.exir.error import ExportError, ExportErrorType

_FUNCTIONS = frozenset(
    {
        operator.getitem,
        operator.add,
        operator.sub,
        operator.mul,
        operator.floordiv,
        operator.truediv,
        operator.mod,
        operator.neg,
        operator.pow,
        operator.eq,
        operator.ne,
        operator.gt,
        operator.ge,
        operator.lt,
        operator.le,
        operator.and_,
        operator.or_,
        operator.not_,
        math.ceil,
        math.floor,
        math.trunc,
        builtins.round,
        torch.sym_float,
        torch.sym_int,
        torch.sym_ite,
        torch.sym_max,
        torch.sym_min,
        torch.sym_not,
    }
)


class EXIREdgeDialectVerifier(Verifier):
    """torch's structural check with the operators the edge dialect has. `edge_violations` says more."""

    dialect = "EDGE"

    def allowed_builtin_ops(self) -> list[Any]:
        return [function for function in _FUNCTIONS if inspect.isbuiltin(function)]

    def allowed_op_types(self) -> tuple[type[Any], ...]:
        return (EdgeOpOverload, torch._ops.OpOverload, torch._ops.HigherOrderOperator)

    def allowed_getattr_types(self) -> tuple[type[Any], ...]:
        return (torch.nn.Module,)


def edge_violations(graph_module: GraphModule) -> list[str]:
    """What in `graph_module`, branches included, is not edge dialect; one line per node."""
    found = []
    for node in graph_module.graph.nodes:
        if node.op == "call_function" and not _is_edge_target(node.target):
            found.append(f"{node.format_node()}: {node.target} is not an edge operator")
        elif node.op == "call_module" or node.op == "call_method":
            found.append(f"{node.format_node()}: {node.op} is not part of the dialect")
    for child in graph_module.children():
        if isinstance(child, GraphModule):
            found.extend(edge_violations(child))
    return found


def _is_edge_target(target: Any) -> bool:
    if isinstance(target, EdgeOpOverload | torch._ops.HigherOrderOperator):
        return True
    return target in _FUNCTIONS or isinstance(target, torch._ops.OpOverload)


def check_edge_program(program: ExportedProgram, after: str) -> None:
    """Raises when a graph is not edge dialect; `after` says which step made it so."""
    found = edge_violations(program.graph_module)
    if found:
        raise ExportError(
            ExportErrorType.VIOLATION_OF_SPEC,
            f"after {after} the program is not edge dialect:\n  " + "\n  ".join(found),
        )
