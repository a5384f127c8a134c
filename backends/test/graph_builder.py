# SPDX-License-Identifier: BSD-3-Clause
"""`GraphBuilder`: a graph written call by call, for tests of passes.

builder = GraphBuilder()
x = builder.placeholder("x", torch.randn(2, 3))
builder.output([builder.call_operator(exir_ops.edge.aten.relu.default, (x,))])
graph_module = builder.get_graph_module()
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import torch
from torch._dispatch.python import enable_python_dispatcher
from torch._subclasses.fake_tensor import FakeTensor, FakeTensorMode
from torch.fx import GraphModule
from torch.fx.graph import CodeGen
from torch.fx.passes.infra.pass_base import PassResult
from torch.utils import _pytree as pytree

from executorch.exir.pass_base import ExportPass, NodeMetadata, ProxyValue


class GraphBuilder(ExportPass):
    """An `ExportPass` whose calls come from the user instead of a graph; values are run on fake tensors."""

    def __init__(self, fake_tensor_mode: FakeTensorMode | None = None) -> None:
        super().__init__()
        self._fake_mode = fake_tensor_mode or FakeTensorMode(allow_non_fake_inputs=True)
        self.tracer = self.ExportTracer(self, CodeGen())

    def placeholder(self, target: str, fake_tensor: FakeTensor | torch.Tensor) -> ProxyValue:
        """An input like `fake_tensor`, which may be a real one: its data is not kept."""
        if not isinstance(fake_tensor, FakeTensor):
            fake_tensor = self._fake_mode.from_tensor(fake_tensor, static_shapes=True)
        return super().placeholder(target, fake_tensor, NodeMetadata({}))

    def output(self, results: list[ProxyValue]) -> ProxyValue:
        return super().output(results, NodeMetadata({}))

    def get_graph_module(self) -> GraphModule:
        return GraphModule(self.tracer.root, self.tracer.graph)

    def call_operator(
        self,
        op: Any,
        args: tuple[Any, ...],
        kwargs: dict[str, Any] | None = None,
        meta: NodeMetadata | None = None,
    ) -> ProxyValue:
        with self._fake_mode, enable_python_dispatcher(), torch.no_grad():
            return super().call_operator(op, args, kwargs or {}, meta or NodeMetadata({}))

    def call_getitem(
        self, value: ProxyValue, key: int, meta: NodeMetadata | None = None
    ) -> ProxyValue:
        return super().call_getitem(value, key, meta or NodeMetadata({}))

    def call_submodule(self, graph_module: GraphModule, inputs: tuple[Any, ...]) -> PassResult:
        """Runs a graph (a branch, say) on the data of `inputs` into a graph of its own."""
        data = pytree.tree_map_only(ProxyValue, lambda value: value.data, inputs)
        with self._fake_mode:
            return ExportPass().call_submodule(graph_module, data)


def single_op_builder(
    placeholders: Sequence[torch.Tensor | FakeTensor],
    op: Any,
    args: Sequence[Any],
    kwargs: dict[str, Any] | None = None,
) -> GraphModule:
    """A graph of one call. Tensors among the arguments that stand in `placeholders` are its inputs `p_0`, `p_1`, ..."""
    builder = GraphBuilder()
    inputs = {id(one): builder.placeholder(f"p_{i}", one) for i, one in enumerate(placeholders)}

    def as_input(value: Any) -> Any:
        return inputs.get(id(value), value)

    call_args, call_kwargs = pytree.tree_map(as_input, (tuple(args), dict(kwargs or {})))
    builder.output([builder.call_operator(op, call_args, call_kwargs)])
    return builder.get_graph_module()
