# SPDX-License-Identifier: BSD-3-Clause
"""Which calls inductor writes code for, and which it would leave to kernels of PyTorch, that no runtime of ours has."""

from __future__ import annotations

import functools
import operator
from collections.abc import Collection
from typing import Any

import torch
from torch.fx import Node

from executorch.exir.graph_facts import called_op

_ATEN = torch.ops.aten
# Operators that inductor leaves to kernels which a runtime may have, by the end of the kernels' names.
_KERNEL_OF = {
    _ATEN.mm.default: "mm_out",
    _ATEN.bmm.default: "bmm_out",
    _ATEN.addmm.default: "addmm_out",
    _ATEN.convolution.default: "convolution",
    _ATEN.sort.default: "sort_stable",
    _ATEN.sort.stable: "sort_stable",
    _ATEN.topk.default: "topk",
}


def why_not_compiled(node: Node, kernels: Collection[str], compiled: Collection[Any] = ()) -> str:
    """Empty for a call that is compiled, or done by one of `kernels`. `compiled`: operators that inductor writes code
    for on this device, not on all."""
    if node.target is operator.getitem:
        return ""
    op = called_op(node)
    if (
        op is None or op.namespace == "dim_order_ops"
    ):  # control flow, and numbers; inductor.py reverts these
        return ""
    if op in compiled:
        return ""
    if op in _KERNEL_OF:
        name = _KERNEL_OF[op]
        has_kernel = any(
            each.endswith(f"_{name}") or each == f"at::_ops::{name}::call" for each in kernels
        )
        return "" if has_kernel else f"the runtime has no kernel for {op}"
    return "" if _is_compiled(op) else f"AOTInductor leaves {op} to a kernel of PyTorch's"


@functools.cache
def _is_compiled(op: Any) -> bool:
    from torch._inductor import decomposition, lowering

    if op in lowering.fallbacks:
        return False
    is_known = op in lowering.lowerings or op in decomposition.select_decomp_table()
    return is_known or op._can_decompose()
