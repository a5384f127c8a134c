# SPDX-License-Identifier: BSD-3-Clause
"""What runs with a call: the limits behind it, and the cast to int32."""

from __future__ import annotations

import torch
from torch.fx import Node

from executorch.exir.backend.lowering import steps
from executorch.exir.backend.lowering.mode_steps import ModeStep
from executorch.exir.backend.lowering.patterns import HEAD, Call, find
from executorch.exir.graph_facts import only_user

_CASTS = ("dim_order_ops._to_dim_order_copy.default", "aten._to_copy.default")
AS_INT32 = Call(_CASTS, HEAD, where=lambda node: node.meta["val"].dtype == torch.int32)


def with_limits(head: Node) -> ModeStep:
    """A call and the limits behind it, if there are some."""
    user = only_user(head)
    found = None if user is None else find(steps.LIMITS, user, head)
    return ModeStep(head, head) if found is None else ModeStep(head, user, found.calls, found.named)
