# SPDX-License-Identifier: BSD-3-Clause
# compat
"""Sizes that stand where a schema wants a tensor become tensors.

before: %y = add.Tensor(%x, %size)               after: %t = scalar_tensor(%size); %y = add.Tensor(%x, %t)
"""

from __future__ import annotations

from typing import Any

import torch

from executorch.exir.pass_base import ExportPass, NodeMetadata, ProxyValue, map_args

_DTYPES = {torch.SymInt: torch.int32, torch.SymFloat: torch.float32, torch.SymBool: torch.bool}


class SymToTensorPass(ExportPass):
    """Integers become int32, as sizes are in files."""

    def call_operator(
        self, op: Any, args: tuple[Any, ...], kwargs: dict[str, Any], meta: NodeMetadata
    ) -> ProxyValue:
        def coerce(value: Any, schema: Any) -> Any:
            dtype = _DTYPES.get(type(value.data)) if isinstance(value, ProxyValue) else None
            if dtype is None or not isinstance(schema.type, torch.TensorType):
                return value
            make = torch.ops.aten.scalar_tensor.default
            return super(SymToTensorPass, self).call_operator(
                make, (value,), {"dtype": dtype}, meta
            )

        args, kwargs = map_args(op, coerce, args, kwargs)
        return super().call_operator(op, args, kwargs, meta)
