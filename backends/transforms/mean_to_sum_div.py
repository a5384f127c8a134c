# SPDX-License-Identifier: BSD-3-Clause
"""before: mean(%x, dims, keepdim)     after: %s = sum(%x, dims, keepdim); %n = full([1], count); div(%s, %n)"""

from __future__ import annotations

import math
from typing import Any

import torch

from executorch.exir.dialects._ops import ops as exir_ops
from executorch.exir.pass_base import ExportPass, NodeMetadata, ProxyValue

_OPS = {
    exir_ops.edge.aten.mean.dim: (
        exir_ops.edge.aten.sum.dim_IntList,
        exir_ops.edge.aten.full.default,
        exir_ops.edge.aten.div.Tensor,
    ),
    torch.ops.aten.mean.dim: (
        torch.ops.aten.sum.dim_IntList,
        torch.ops.aten.full.default,
        torch.ops.aten.div.Tensor,
    ),
}


class MeanToSumDiv(ExportPass):
    def call_operator(self, op: Any, args: Any, kwargs: Any, meta: NodeMetadata) -> ProxyValue:
        if op not in _OPS:
            return super().call_operator(op, args, kwargs, meta)
        total_op, full_op, div_op = _OPS[op]
        source = args[0].data
        dims = (args[1] if len(args) > 1 else None) or range(source.dim())
        keep = args[2] if len(args) > 2 else kwargs.get("keepdim", False)
        total = super().call_operator(total_op, (args[0], list(dims), keep), dict(kwargs), meta)
        count = math.prod(source.shape[dim] for dim in dims)
        dtype = {"dtype": total.data.dtype, "device": source.device}
        number = super().call_operator(full_op, ([1], count), dtype, meta)
        return super().call_operator(div_op, (total, number), {}, meta)
