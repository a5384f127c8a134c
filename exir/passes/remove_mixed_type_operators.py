# SPDX-License-Identifier: BSD-3-Clause
"""Arithmetic gets its arguments in one dtype, the one torch's promotion computes in.

before: %y = add(%float, %int)                   after: %c = _to_copy(%int, dtype=float32); %y = add(%float, %c)

Only users call it: no list of the compiler has it.
"""

from __future__ import annotations

from typing import Any

import torch
from torch._prims_common import ELEMENTWISE_TYPE_PROMOTION_KIND, elementwise_dtypes

from executorch.exir.dialects.edge._ops import EdgeOpOverload, edge_op_of
from executorch.exir.graph_facts import without_dialect
from executorch.exir.pass_base import ExportPass, NodeMetadata, ProxyValue

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
    _aten.atan2.default: _TO_FLOAT,
}


class RemoveMixedTypeOperators(ExportPass):
    """For backends whose binary operators want equal dtypes."""

    def call_operator(
        self, op: Any, args: tuple[Any, ...], kwargs: dict[str, Any], meta: NodeMetadata
    ) -> ProxyValue:
        kind = _PROMOTION.get(without_dialect(op))
        if kind is None:
            return super().call_operator(op, args, kwargs, meta)
        data = [arg.data if isinstance(arg, ProxyValue) else arg for arg in args]
        computed, _ = elementwise_dtypes(*data, type_promotion_kind=kind)
        to_copy = _aten._to_copy.default
        cast = edge_op_of(to_copy) if isinstance(op, EdgeOpOverload) else to_copy
        same = tuple(self._cast(cast, arg, computed, meta) for arg in args)
        return super().call_operator(op, same, kwargs, meta)

    def _cast(self, cast: Any, arg: Any, dtype: torch.dtype, meta: NodeMetadata) -> Any:
        is_other = isinstance(arg, ProxyValue) and arg.is_tensor() and arg.data.dtype != dtype
        return super().call_operator(cast, (arg,), {"dtype": dtype}, meta) if is_other else arg
