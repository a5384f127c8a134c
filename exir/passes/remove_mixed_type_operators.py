# SPDX-License-Identifier: BSD-3-Clause
# compat
"""Arithmetic gets its arguments in one dtype, the one that torch's promotion gives.

before: %y = add(%float, %int)
after:  %c = _to_dim_order_copy(%int, dtype=float32, dim_order=[0]); %y = add(%float, %c)
"""

from __future__ import annotations

from typing import Any

import torch
from torch._prims_common import ELEMENTWISE_TYPE_PROMOTION_KIND, elementwise_dtypes
from torch.fx import GraphModule
from torch.fx.passes.infra.pass_base import PassResult

from executorch.exir.dialects.edge._ops import EdgeOpOverload, edge_op_of
from executorch.exir.graph_facts import without_dialect
from executorch.exir.pass_base import ExportPass, NodeMetadata, ProxyValue
from executorch.exir.passes.dim_order_ops_registry import DimOrderOpsMap
from executorch.exir.tensor import dim_order_of

_aten = torch.ops.aten
_DEFAULT = ELEMENTWISE_TYPE_PROMOTION_KIND.DEFAULT
_TO_FLOAT = ELEMENTWISE_TYPE_PROMOTION_KIND.INT_TO_FLOAT
_PROMOTION = {
    _aten.add.Tensor: _DEFAULT,
    _aten.sub.Tensor: _DEFAULT,
    _aten.mul.Tensor: _DEFAULT,
    _aten.minimum.default: _DEFAULT,
    _aten.maximum.default: _DEFAULT,
    _aten.div.Tensor: _TO_FLOAT,
    _aten.div.Tensor_mode: _DEFAULT,
    _aten.atan2.default: _TO_FLOAT,
}


class RemoveMixedTypeOperators(ExportPass):
    """For backends whose binary operators want equal dtypes. A graph with copies that name memory formats, as
    `_skip_dim_order=True` writes them, gets such casts, too."""

    _names_memory_formats = False

    def call(self, graph_module: GraphModule) -> PassResult:
        self._names_memory_formats = any(
            node.target in DimOrderOpsMap for node in graph_module.graph.nodes
        )
        return super().call(graph_module)

    def call_operator(
        self, op: Any, args: tuple[Any, ...], kwargs: dict[str, Any], meta: NodeMetadata
    ) -> ProxyValue:
        kind = _PROMOTION.get(without_dialect(op))
        if kind is None:
            return super().call_operator(op, args, kwargs, meta)
        if kwargs.get("rounding_mode", "") is None:
            kind = _TO_FLOAT
        data = [arg.data if isinstance(arg, ProxyValue) else arg for arg in args]
        _, promoted = elementwise_dtypes(*data, type_promotion_kind=kind)  # half types stay half
        same = tuple(self._cast(op, arg, promoted, meta) for arg in args)
        return super().call_operator(op, same, kwargs, meta)

    def _cast(self, op: Any, arg: Any, dtype: torch.dtype, meta: NodeMetadata) -> Any:
        """`arg` in `dtype`, by the copy that the dialect of `op` has."""
        if not (isinstance(arg, ProxyValue) and arg.is_tensor() and arg.data.dtype != dtype):
            return arg
        cast, kwargs = _aten._to_copy.default, {"dtype": dtype}
        if isinstance(op, EdgeOpOverload):
            cast = edge_op_of(cast)
            if not self._names_memory_formats:
                cast = DimOrderOpsMap[cast]
                kwargs["dim_order"] = list(dim_order_of(arg.data))
        return super().call_operator(cast, (arg,), kwargs, meta)
