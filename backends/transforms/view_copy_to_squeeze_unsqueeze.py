# SPDX-License-Identifier: BSD-3-Clause
"""Views that add or drop a dimension of size 1 say so.

before: view_copy(%x of [2, 3], [2, 1, 3])     after: unsqueeze_copy(%x, 1)
before: view_copy(%x of [2, 1, 3], [2, 3])     after: squeeze_copy(%x, [1])
"""

from __future__ import annotations

from typing import Any

import torch
from torch.fx import GraphModule, Node
from torch.fx.passes.infra.pass_base import PassResult

from executorch.backends.transforms.edits import call_before, finished, replace, shape_of
from executorch.exir.dialects._ops import ops as exir_ops
from executorch.exir.pass_base import ExportPass

_aten = exir_ops.edge.aten


class ViewCopyToSqueezeUnsqueezePass(ExportPass):
    def __init__(self) -> None:
        super().__init__()

    def is_node_target(self, node: Node, target: torch._ops.OperatorBase) -> bool:
        return node.op == "call_function" and node.target == target

    def find_squeeze_dims(self, input_shape: list[int], view_shape: list[int]) -> list[int] | None:
        """Which dimensions of size 1 the view drops; None when it does anything else."""
        dims, rest = [], list(view_shape)
        for dim, size in enumerate(input_shape):
            if rest and size == rest[0]:
                rest.pop(0)
            elif size == 1:
                dims.append(dim)
            else:
                return None
        return dims if dims and not rest else None

    def find_unsqueeze_dim(self, input_shape: list[int], view_shape: list[int]) -> int | None:
        """Where the view adds a dimension of size 1; None when it does anything else."""
        if len(view_shape) != len(input_shape) + 1:
            return None
        for dim, size in enumerate(view_shape):
            if size == 1 and [*view_shape[:dim], *view_shape[dim + 1 :]] == list(input_shape):
                return dim
        return None

    def replace_view_copy_node(
        self, graph_module: GraphModule, view_node: Node, op: Any, arg: list[int] | int
    ) -> None:
        replace(view_node, call_before(view_node, op, (view_node.args[0], arg)))

    def call(self, graph_module: GraphModule) -> PassResult:
        modified = False
        for node in list(graph_module.graph.nodes):
            if not self.is_node_target(node, _aten.view_copy.default):
                continue
            before, after = shape_of(node.args[0]), shape_of(node)
            dropped, added = (
                self.find_squeeze_dims(before, after),
                self.find_unsqueeze_dim(before, after),
            )
            if dropped is not None:
                self.replace_view_copy_node(graph_module, node, _aten.squeeze_copy.dims, dropped)
            elif added is not None:
                self.replace_view_copy_node(graph_module, node, _aten.unsqueeze_copy.default, added)
            modified |= dropped is not None or added is not None
        return finished(graph_module, modified)
