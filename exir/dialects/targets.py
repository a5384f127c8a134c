# SPDX-License-Identifier: BSD-3-Clause
"""What a node calls, whichever dialect spells it."""

from __future__ import annotations

from typing import Any

import torch
from torch.fx import Node

from executorch.exir.dialects.edge._ops import EdgeOpOverload


def without_dialect(target: Any) -> Any:
    """The torch operator inside an operator of a dialect; anything else as it is."""
    return target._op if isinstance(target, EdgeOpOverload) else target


def torch_op(target: Any) -> torch._ops.OpOverload | None:
    """The torch operator that a node calls, itself or inside an operator of a dialect; None for anything else."""
    op = without_dialect(target)
    return op if isinstance(op, torch._ops.OpOverload) else None


def op_name(node: Node) -> str:
    """`aten.add.Tensor`; empty for what is no call of an operator."""
    return str(torch_op(node.target) or "") if node.op == "call_function" else ""
