# SPDX-License-Identifier: BSD-3-Clause
"""Operands that are constant numbers are given as numbers, where the runtime has a kernel for that.

before: %y = aten.mul.Tensor(%x, %_lifted_tensor_constant0)      after: %y = aten.mul.Scalar(%x, 2.0)
Only where the result has the same dtype; the kernel then needs no broadcasting and the file no constant.
"""

from __future__ import annotations

from typing import Any

import torch
from torch.fx import GraphModule, Node

from executorch.exir.dialects.edge._ops import EdgeOpOverload, edge_op_of
from executorch.exir.sym_util import surely_equal

_aten = torch.ops.aten
# Tensor form -> (Scalar form, operands may change places)
_SCALAR_FORMS: dict[torch._ops.OpOverload, tuple[torch._ops.OpOverload, bool]] = {
    _aten.add.Tensor: (_aten.add.Scalar, True),
    _aten.sub.Tensor: (_aten.sub.Scalar, False),
    _aten.mul.Tensor: (_aten.mul.Scalar, True),
    _aten.div.Tensor: (_aten.div.Scalar, False),
    _aten.div.Tensor_mode: (_aten.div.Scalar_mode, False),
    _aten.eq.Tensor: (_aten.eq.Scalar, True),
    _aten.ne.Tensor: (_aten.ne.Scalar, True),
    _aten.lt.Tensor: (_aten.lt.Scalar, False),
    _aten.le.Tensor: (_aten.le.Scalar, False),
    _aten.gt.Tensor: (_aten.gt.Scalar, False),
    _aten.ge.Tensor: (_aten.ge.Scalar, False),
    _aten.fmod.Tensor: (_aten.fmod.Scalar, False),
    _aten.remainder.Tensor: (_aten.remainder.Scalar, False),
    _aten.pow.Tensor_Tensor: (_aten.pow.Tensor_Scalar, False),
    _aten.bitwise_and.Tensor: (_aten.bitwise_and.Scalar, True),
    _aten.bitwise_or.Tensor: (_aten.bitwise_or.Scalar, True),
    _aten.bitwise_xor.Tensor: (_aten.bitwise_xor.Scalar, True),
}


def scalar_constants_to_scalars_pass(graph_module: GraphModule) -> None:
    """Works in place, branches included."""
    for module in graph_module.modules():
        if isinstance(module, GraphModule):
            for node in module.graph.nodes:
                if node.op == "call_function" and isinstance(node.target, EdgeOpOverload):
                    _rewrite(node)


def _rewrite(node: Node) -> None:
    form = _SCALAR_FORMS.get(node.target._op)
    if form is None or len(node.args) != 2:
        return
    scalar_op, commutes = form
    left, right = node.args
    number = _number(right)
    if number is None and commutes and not node.kwargs:
        left, number = right, _number(left)
    if number is None or not isinstance(left, Node) or _number(left) is not None:
        return
    if not _same_result(scalar_op, left, number, node):
        return
    node.target = edge_op_of(scalar_op)
    node.args = (left, number)


def _number(operand: Any) -> Any:
    """The number (or the node of a symbolic one) an operand stands for; None when it is a true tensor."""
    if not isinstance(operand, Node):
        return None
    if "lifted_scalar" in operand.meta:
        return operand.meta["lifted_scalar"]
    if isinstance(operand.target, EdgeOpOverload):
        op = operand.target._op
        if op is _aten.full.default and operand.args[0] == []:
            return operand.args[1]
        if op is _aten.scalar_tensor.default:
            return operand.args[0]
    return None


def _same_result(op: torch._ops.OpOverload, left: Node, number: Any, node: Node) -> bool:
    """True when the number changes neither dtype nor sizes. (Kernels of arithmetic with a Scalar want the tensor's
    dtype to be the result's; those of comparisons give bool for any.)"""
    tensor, result = left.meta["val"], node.meta["val"]
    if not all(surely_equal(a, b) for a, b in zip(tensor.shape, result.shape)):
        return False
    if tensor.dim() != result.dim():
        return False
    if result.dtype is torch.bool and op._schema.name in _COMPARISONS:
        return True
    return tensor.dtype == result.dtype and tensor.dtype is not torch.bool


_COMPARISONS = frozenset(f"aten::{name}" for name in ("eq", "ne", "lt", "le", "gt", "ge"))
