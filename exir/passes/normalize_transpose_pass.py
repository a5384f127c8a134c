# SPDX-License-Identifier: BSD-3-Clause
# compat
"""`t` has one form, the one that torch decomposes to the same on every backend.

before: %y = aten.t(%x)                          after: %y = aten.t_copy(%x)
"""

from __future__ import annotations

from typing import Any

import torch

from executorch.exir.pass_base import ExportPass, NodeMetadata, ProxyValue


class NormalizeTransposePass(ExportPass):
    """to_edge writes permute_copy itself; this is for graphs from elsewhere."""

    def call_operator(
        self, op: Any, args: tuple[Any, ...], kwargs: dict[str, Any], meta: NodeMetadata
    ) -> ProxyValue:
        if op is torch.ops.aten.t.default:
            op = torch.ops.aten.t_copy.default
        return super().call_operator(op, args, kwargs, meta)
