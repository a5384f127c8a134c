# SPDX-License-Identifier: BSD-3-Clause
"""before: add.Scalar(%x, 2)     after: %n = full((1,), 2); add.Tensor(%x, %n)"""

from __future__ import annotations

from typing import Any

import torch

from executorch.exir.dialects._ops import ops as exir_ops
from executorch.exir.dialects.edge._ops import EdgeOpOverload
from executorch.exir.pass_base import ExportPass, NodeMetadata, ProxyValue

_edge, _aten = exir_ops.edge.aten, torch.ops.aten


class ReplaceScalarWithTensorArgPass(ExportPass):
    """`scalar_to_tensor_ops`: which operators, and what takes their place; the edge dialect's arithmetic when None."""

    default_ops: dict[EdgeOpOverload, EdgeOpOverload] = {
        _edge.add.Scalar: _edge.add.Tensor,
        _edge.sub.Scalar: _edge.sub.Tensor,
        _edge.mul.Scalar: _edge.mul.Tensor,
        _edge.div.Scalar: _edge.div.Tensor,
        _aten.add.Scalar: _aten.add.Tensor,
        _aten.sub.Scalar: _aten.sub.Tensor,
        _aten.mul.Scalar: _aten.mul.Tensor,
        _aten.div.Scalar: _aten.div.Tensor,
    }

    def __init__(self, scalar_to_tensor_ops: dict[Any, Any] | None = None) -> None:
        super().__init__()
        self.scalar_to_tensor_ops = (
            self.default_ops if scalar_to_tensor_ops is None else scalar_to_tensor_ops
        )

    def get_replacement(self, op: Any, args: Any, kwargs: Any, meta: NodeMetadata) -> ProxyValue:
        full = _edge.full.default if isinstance(op, EdgeOpOverload) else _aten.full.default
        options = {"dtype": args[0].data.dtype, "device": args[0].data.device}
        if isinstance(args[1], float) and not args[0].data.dtype.is_floating_point:
            options["dtype"] = torch.get_default_dtype()  # as the number promotes
        number = super().call_operator(full, ((1,), args[1]), options, meta)
        target = self.scalar_to_tensor_ops[op]
        return super().call_operator(target, (args[0], number, *args[2:]), kwargs, meta)

    def call_operator(self, op: Any, args: Any, kwargs: Any, meta: NodeMetadata) -> ProxyValue:
        if op not in self.scalar_to_tensor_ops:
            return super().call_operator(op, args, kwargs, meta)
        return self.get_replacement(op, args, kwargs, meta)
