# SPDX-License-Identifier: BSD-3-Clause
# compat
"""Copies and allocations that name a memory format name a dim order instead, and back.

before: _to_copy(%x, memory_format=channels_last)     after: _to_dim_order_copy(%x, dim_order=[0, 2, 3, 1])
"""

from __future__ import annotations

from typing import Any

import torch

from executorch.exir.dialects.edge._ops import edge_op_of
from executorch.exir.dim_order_utils import get_memory_format
from executorch.exir.graph_facts import without_dialect
from executorch.exir.pass_base import ExportPass, NodeMetadata, ProxyValue
from executorch.exir.retrace.builder import TO_DIM_ORDER
from executorch.exir.tensor import dim_order_of

_FROM_DIM_ORDER = {new: old for old, new in TO_DIM_ORDER.items()}


class MemoryFormatOpsPass(ExportPass):
    """to_edge does this itself unless told not to; this is for graphs from elsewhere."""

    def call_operator(
        self, op: Any, args: tuple[Any, ...], kwargs: dict[str, Any], meta: NodeMetadata
    ) -> ProxyValue:
        target = without_dialect(op)
        replacement = TO_DIM_ORDER.get(target)
        if replacement is None:
            return super().call_operator(op, args, kwargs, meta)
        kept = {key: value for key, value in kwargs.items() if key != "memory_format"}
        kept["dim_order"] = list(dim_order_of(meta["val"]))
        return super().call_operator(edge_op_of(replacement), args, kept, meta)


class DimOrderOpsRevertPass(ExportPass):
    """The way back, for backends that read memory formats."""

    def call_operator(
        self, op: Any, args: tuple[Any, ...], kwargs: dict[str, Any], meta: NodeMetadata
    ) -> ProxyValue:
        target = without_dialect(op)
        original = _FROM_DIM_ORDER.get(target)
        if original is None:
            return super().call_operator(op, args, kwargs, meta)
        dropped = {"dim_order"}
        if original is torch.ops.aten.clone.default:
            dropped.add("non_blocking")
        kept = {key: value for key, value in kwargs.items() if key not in dropped}
        kept["memory_format"] = get_memory_format(kwargs.get("dim_order"))
        return super().call_operator(edge_op_of(original), args, kept, meta)
