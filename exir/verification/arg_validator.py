# SPDX-License-Identifier: BSD-3-Clause
# compat
"""Runs a graph and notes the edge operators that get dtypes which edge.yaml does not allow."""

from __future__ import annotations

from typing import Any

import torch
from torch.fx import GraphModule, Interpreter, Node

from executorch.exir.dialects.edge._ops import EdgeOpOverload


class RunHigherOrderOperatorError(Exception):
    """The graph has control flow or a delegate: what runs inside is not seen."""

    def __init__(self, message: str) -> None:
        super().__init__(message)


class EdgeOpArgValidator(Interpreter):
    """`run(*inputs)` with real or fake tensors; then `violating_ops` maps each offending operator to the dtypes by
    argument and the node."""

    node: Node  # the one that runs

    def __init__(self, graph_module: GraphModule) -> None:
        super().__init__(graph_module)
        self.violating_ops: dict[EdgeOpOverload, tuple[dict[str, torch.dtype | None], Node]] = {}

    def run_node(self, n: Node) -> Any:
        self.node = n
        return super().run_node(n)

    def call_function(self, target: Any, args: tuple[Any, ...], kwargs: dict[str, Any]) -> Any:
        if isinstance(target, torch._ops.HigherOrderOperator):
            raise RunHigherOrderOperatorError(
                f"node {self.node.format_node()} calls {target.name()}, which cannot be judged from outside"
            )
        result = super().call_function(target, args, kwargs)
        if isinstance(target, EdgeOpOverload):
            self._judge(target, args, kwargs, result)
        return result

    def _judge(
        self, op: EdgeOpOverload, args: tuple[Any, ...], kwargs: dict[str, Any], result: Any
    ) -> None:
        schema = op._schema
        names = [argument.name for argument in schema.arguments]
        values = {**dict(zip(names, args, strict=False)), **kwargs}
        results = list(result) if isinstance(result, tuple) else [result]
        values |= {f"__ret_{number}": value for number, value in enumerate(results)}
        dtypes = {name: dtype for name, value in values.items() if (dtype := _dtype_of(value))}
        if not schema.dtype_constraint.validate(dtypes):
            self.violating_ops[op] = (dtypes, self.node)


def _dtype_of(value: Any) -> torch.dtype | None:
    """Of a tensor, or of a list of tensors."""
    if isinstance(value, list | tuple):
        return next((dtype for item in value if (dtype := _dtype_of(item))), None)
    return value.dtype if isinstance(value, torch.Tensor) else None
