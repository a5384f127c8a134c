# SPDX-License-Identifier: BSD-3-Clause
"""Views share the memory of what they view.

before: %v = view_copy(%x, [8])                  after: %v = memory.view(%x, [8]), spec.inplace_base = %x's spec
Only where the bytes are the same: contiguous tensors; not of a buffer that is written, whose bytes change.
"""

from __future__ import annotations

from collections.abc import Sequence

import torch
from torch.fx import GraphModule, Node
from torch.fx.passes.infra.pass_base import PassBase, PassResult

from executorch.exir import memory
from executorch.exir.graph_facts import without_dialect
from executorch.exir.passes.spec_prop_pass import spec_of
from executorch.exir.tensor import TensorSpec
from executorch.exir.tensor import dim_order_from_stride as dim_order_from_stride

_aten = torch.ops.aten
_VIEW_OP = memory.view
# Copying operators whose result has the bytes of a contiguous source, in the same order.
_SAME_BYTES = frozenset(
    {
        _aten.view_copy.default,
        _aten.unsqueeze_copy.default,
        _aten.squeeze_copy.dim,
        _aten.squeeze_copy.dims,
        _aten.squeeze_copy.default,
    }
)


def _is_view_copy(node: Node) -> bool:
    return node.op == "call_function" and without_dialect(node.target) in _SAME_BYTES


def shares_memory_as_view(node: Node) -> bool:
    """True for a call that may become a view of its first argument."""
    return node.target is memory.view or _is_view_copy(node)


class ReplaceViewCopyWithViewPass(PassBase):
    """Runs before out variants are chosen; calls without a spec get theirs."""

    def call(self, graph_module: GraphModule) -> PassResult:
        for module in graph_module.modules():
            if isinstance(module, GraphModule):
                for node in module.graph.nodes:
                    if node.op == "call_function" and "spec" not in node.meta:
                        node.meta["spec"] = spec_of(node)
        share_views(graph_module)
        return PassResult(graph_module, True)

    def requires(self, graph_module: GraphModule) -> None:
        for node in graph_module.graph.find_nodes(op="placeholder"):
            if isinstance(node.meta.get("val"), torch.Tensor) and "spec" not in node.meta:
                raise ValueError(f"{node.name} has no spec yet; run SpecPropPass before")

    def ensures(self, graph_module: GraphModule) -> None:
        for node in graph_module.graph.nodes:
            if node.target is memory.view and node.meta["spec"].inplace_base is None:
                raise ValueError(f"{node.name} does not know whose memory it shares")


def share_views(graph_module: GraphModule, kept_sources: frozenset[str] = frozenset()) -> None:
    """What the pass does, in place. `kept_sources`: names of placeholders whose memory is overwritten later."""
    for module in graph_module.modules():
        if isinstance(module, GraphModule):
            is_branch = module is not graph_module
            for node in module.graph.nodes:
                if _can_share(node, is_branch, kept_sources):
                    _share(node)


def _can_share(node: Node, is_branch: bool, kept_sources: frozenset[str]) -> bool:
    if not _is_view_copy(node):
        return False
    base = node.args[0]
    root = _root(base)
    if root.op == "placeholder" and (is_branch or root.name in kept_sources):
        return False
    return _is_contiguous(base) and _is_contiguous(node)


def _ViewSpec(base: TensorSpec, shape: Sequence[int]) -> TensorSpec:
    """The spec of a view of these sizes, whose memory is that of `base`."""
    spec = TensorSpec(base.dtype, shape)
    spec.inplace_base = base
    return spec


def _share(node: Node) -> None:
    base = node.args[0]
    sizes = node.args[1] if without_dialect(node.target) is _aten.view_copy.default else None
    if sizes is None or any(isinstance(size, int) and size < 0 for size in sizes):
        sizes = [size if type(size) is int else -1 for size in node.meta["val"].shape]
        if sizes.count(-1) > 1:
            return
    node.target = memory.view
    node.args = (base, list(sizes))
    node.kwargs = {}
    node.meta["spec"].inplace_base = base.meta["spec"]


def _root(node: Node) -> Node:
    while node.target is memory.view:
        node = node.args[0]
    return node


def _is_contiguous(node: Node) -> bool:
    spec = node.meta.get("spec")
    return isinstance(spec, TensorSpec) and tuple(spec.dim_order) == tuple(range(len(spec.shape)))
