# SPDX-License-Identifier: BSD-3-Clause
"""Attention and topk as Triton kernels, and the pass that puts them into programs. Only `kernels` needs Triton."""

from __future__ import annotations

from executorch._lazy import lazy_names

__getattr__, __dir__ = lazy_names(
    __name__, {"ReplaceEdgeOpWithTritonOpPass": "replace_edge_op_with_triton_op_pass"}
)
