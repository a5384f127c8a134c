# SPDX-License-Identifier: BSD-3-Clause
# compat
"""Kernels that work in the contiguous order only get contiguous tensors.

before: %y = avg_pool2d(%x, 2), %x channels last
after:  %c = _to_dim_order_copy(%x, dim_order=[0, 1, 2, 3]); %y = avg_pool2d(%c, 2)

The compiler's own step is row_major_pass, which works in place.
"""

from __future__ import annotations

from typing import Any

import torch

from executorch.exir.dialects._ops import ops as exir_ops
from executorch.exir.graph_facts import without_dialect
from executorch.exir.pass_base import ExportPass, NodeMetadata, ProxyValue
from executorch.exir.passes.row_major_pass import ROW_MAJOR_UPSTREAM
from executorch.exir.tensor import dim_order_of

_aten = torch.ops.aten
# Portable kernels, ours or upstream's, that refuse tensors in another order than the contiguous one.
_CONTIGUOUS_ONLY = ROW_MAJOR_UPSTREAM | {
    _aten.native_group_norm.default,
    _aten.native_layer_norm.default,
    _aten.pixel_shuffle.default,
    _aten.pixel_unshuffle.default,
}


class LegalizePortableDimOrderPass(ExportPass):
    """By a re-trace, so that what reads the results follows their order."""

    def call_operator(
        self, op: Any, args: tuple[Any, ...], kwargs: dict[str, Any], meta: NodeMetadata
    ) -> ProxyValue:
        if without_dialect(op) in _CONTIGUOUS_ONLY:
            args = tuple(self._contiguous(arg, meta) for arg in args)
        return super().call_operator(op, args, kwargs, meta)

    def _contiguous(self, arg: Any, meta: NodeMetadata) -> Any:
        if not isinstance(arg, ProxyValue) or not arg.is_tensor():
            return arg
        order = list(range(arg.data.dim()))
        if list(dim_order_of(arg.data)) == order:
            return arg
        copy = exir_ops.edge.dim_order_ops._to_dim_order_copy.default
        return super().call_operator(copy, (arg,), {"dim_order": order}, meta)
