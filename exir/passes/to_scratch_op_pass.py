# SPDX-License-Identifier: BSD-3-Clause
# compat
"""Operators whose kernels want memory while they run get it planned.

before: %y = ns.op.out(%x, out=%o)               after: %s = memory.alloc(((8,), float32))
                                                        %y = ns.op.out_scratch(%x, out=%o, scratch=%s)
"""

from __future__ import annotations

from typing import Any

import torch
from torch.fx import GraphModule, Node
from torch.fx.passes.infra.pass_base import PassResult

from executorch.exir import memory
from executorch.exir.operator.convert import has_out_arguments, to_scratch_op
from executorch.exir.tensor import TensorSpec


def to_scratch_op_pass(graph_module: GraphModule) -> PassResult:
    """Works in place, after out variants are chosen, on operators with a scratch variant whose needs
    `attach_get_scratch_metas_fn` tells."""
    modified = False
    for node in list(graph_module.graph.nodes):
        op = node.target
        if not isinstance(op, torch._ops.OpOverload) or not has_out_arguments(op):
            continue
        variant = to_scratch_op(op)
        needs = getattr(variant, "get_scratch_metas", None)
        if variant is not None and needs is not None:
            _give_scratch(node, variant, needs)
            modified = True
    return PassResult(graph_module, modified)


def _give_scratch(node: Node, variant: torch._ops.OpOverload, needs: Any) -> None:
    args, kwargs = torch.fx.node.map_arg((node.args, node.kwargs), lambda n: n.meta["val"])
    scratch = {}
    for name, meta in needs(*args, **kwargs).items():
        with node.graph.inserting_before(node):
            memory_of = node.graph.call_function(memory.alloc, ((tuple(meta.shape), meta.dtype),))
        memory_of.meta["spec"] = TensorSpec(meta.dtype, meta.shape, meta.layout)
        memory_of.meta["val"] = torch.empty(meta.shape, dtype=meta.dtype, device="meta")
        scratch[name] = memory_of
    node.target = variant
    node.kwargs = {**node.kwargs, **scratch}
