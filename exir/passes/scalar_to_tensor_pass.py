# SPDX-License-Identifier: BSD-3-Clause
# compat
"""Numbers that stand where a schema wants a tensor become tensors.

before: %y = aten.add.Tensor(%x, 2)              after: %c = get_attr; %y = aten.add.Tensor(%x, %c)
"""

from __future__ import annotations

from typing import Any

import torch
from torch.fx import GraphModule
from torch.fx.passes.infra.pass_base import PassResult

from executorch.exir.pass_base import ExportPass, NodeMetadata, ProxyValue, map_args


class ScalarToTensorPass(ExportPass):
    """to_edge lifts such numbers itself; this is for graphs from elsewhere."""

    def call(self, graph_module: GraphModule) -> PassResult:
        self._modified = False
        return PassResult(super().call(graph_module).graph_module, self._modified)

    def call_operator(
        self, op: Any, args: tuple[Any, ...], kwargs: dict[str, Any], meta: NodeMetadata
    ) -> ProxyValue:
        def coerce(value: Any, schema: Any) -> Any:
            if isinstance(value, bool | int | float) and isinstance(schema.type, torch.TensorType):
                self._modified = True
                return self._constant(value, meta)
            return value

        args, kwargs = map_args(op, coerce, args, kwargs)
        return super().call_operator(op, args, kwargs, meta)

    def _constant(self, number: bool | int | float, meta: NodeMetadata) -> ProxyValue:
        op = torch.ops.aten.scalar_tensor.default
        dtype = torch.tensor(number).dtype
        return super().call_operator(op, (number,), {"dtype": dtype}, meta)
