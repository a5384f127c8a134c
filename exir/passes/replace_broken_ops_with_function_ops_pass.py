# SPDX-License-Identifier: BSD-3-Clause
# compat
"""Operators whose result shares memory with an argument become their copying form.

before: %y = aten._unsafe_view(%x, [6])          after: %y = aten.view_copy(%x, [6])
"""

from __future__ import annotations

from typing import Any

import torch

from executorch.exir.pass_base import ExportPass, NodeMetadata, ProxyValue
from executorch.exir.retrace.op_rules import copy_form, is_view


class ReplaceBrokenOpsWithFunctionalOpsPass(ExportPass):
    """to_edge does this itself; this is for graphs from elsewhere."""

    def call_operator(
        self, op: Any, args: tuple[Any, ...], kwargs: dict[str, Any], meta: NodeMetadata
    ) -> ProxyValue:
        if isinstance(op, torch._ops.OpOverload) and (
            is_view(op) or op is torch.ops.aten._unsafe_view.default
        ):
            op = copy_form(op) or op
        return super().call_operator(op, args, kwargs, meta)
