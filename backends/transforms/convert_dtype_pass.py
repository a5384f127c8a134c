# SPDX-License-Identifier: BSD-3-Clause
"""Computes in another dtype: casts stand at inputs and outputs, which keep theirs.

before: %y = add(%x of int64, %x)     after: %a = to(%x, int32); %b = add(%a, %a); %y = to(%b, int64)
"""

from __future__ import annotations

from typing import Any

import torch
from torch.fx import GraphModule
from torch.fx.passes.infra.pass_base import PassResult
from torch.utils import _pytree as pytree

from executorch.backends.transforms.edits import take_over
from executorch.exir.dialects._ops import ops as exir_ops
from executorch.exir.pass_base import ExportPass, NodeMetadata, ProxyValue


class ConvertDtypePass(ExportPass):
    """`_skip_dim_order`: casts are aten._to_copy, not the operator with a dim order."""

    def __init__(
        self, src_dtype: torch.dtype, dst_dtype: torch.dtype, _skip_dim_order: bool = False
    ) -> None:
        super().__init__()
        self._from, self._to = src_dtype, dst_dtype
        self._skip_dim_order = _skip_dim_order

    def call(self, graph_module: GraphModule) -> PassResult:
        held = [pytree.tree_leaves(node.meta.get("val")) for node in graph_module.graph.nodes]
        if not any(
            isinstance(x, torch.Tensor) and x.dtype == self._from for row in held for x in row
        ):
            return PassResult(graph_module, False)
        (output,) = graph_module.graph.find_nodes(op="output")
        self._output_dtypes = [
            node.meta["val"].dtype if isinstance(node.meta.get("val"), torch.Tensor) else None
            for node in output.args[0]
            if isinstance(node, torch.fx.Node)
        ]
        return take_over(graph_module, super().call(graph_module).graph_module)

    def _cast(self, value: ProxyValue, dtype: torch.dtype) -> ProxyValue:
        if self._skip_dim_order:
            op, kwargs = exir_ops.edge.aten._to_copy.default, {"dtype": dtype}
        else:
            op = exir_ops.edge.dim_order_ops._to_dim_order_copy.default
            order = list(value.data.dim_order()) if value.data.dim() else []
            kwargs = {"dtype": dtype, "dim_order": order}
        return super().call_operator(op, (value,), kwargs, NodeMetadata({}))

    def call_operator(self, op: Any, args: Any, kwargs: Any, meta: NodeMetadata) -> ProxyValue:
        def converted(value: Any) -> Any:
            if (
                isinstance(value, ProxyValue)
                and value.is_tensor()
                and value.data.dtype == self._from
            ):
                if value.node not in self._casts:
                    self._casts[value.node] = self._cast(value, self._to)
                return self._casts[value.node]
            return self._to if value is self._from else value

        new_args, new_kwargs = pytree.tree_map(converted, (args, kwargs))
        result = super().call_operator(op, new_args, new_kwargs, meta)
        if isinstance(result.data, torch.Tensor) and result.data.dtype == self._from:
            self._casts[result.node] = self._cast(result, self._to)
            return self._casts[result.node]
        return result

    def output(self, results: list[Any], meta: NodeMetadata) -> ProxyValue:
        def restored(value: Any, dtype: torch.dtype | None) -> Any:
            wrong = (
                isinstance(value, ProxyValue) and dtype is not None and value.data.dtype != dtype
            )
            return self._cast(value, dtype) if wrong else value

        dtypes = iter(self._output_dtypes)
        back = [restored(x, next(dtypes)) if isinstance(x, ProxyValue) else x for x in results]
        return super().output(back, meta)

    def call_submodule(self, graph_module: GraphModule, inputs: tuple[Any, ...]) -> PassResult:
        self._casts: dict[torch.fx.Node, ProxyValue] = {}
        return super().call_submodule(graph_module, inputs)


class I64toI32(ConvertDtypePass):
    """Integers of 64 bits become those of 32."""

    def __init__(self, _skip_dim_order: bool = False) -> None:
        super().__init__(torch.int64, torch.int32, _skip_dim_order)
