# SPDX-License-Identifier: BSD-3-Clause
# compat
"""Says which mutable buffers start with their values from export. Ours always do when a value is not zero; the mark
stays on the node for tools that look for it.

before: %cache_pos = placeholder                 after: %cache_pos.meta["et_init_buffer"] = True
"""

from __future__ import annotations

from typing import Any

from executorch.exir.pass_base import ExportPass, NodeMetadata, ProxyValue


class InitializedMutableBufferPass(ExportPass):
    """`patterns`: parts of placeholder names."""

    def __init__(self, patterns: list[str]) -> None:
        super().__init__()
        self.patterns = patterns

    def placeholder(self, name: str, arg: Any, meta: NodeMetadata) -> ProxyValue:
        if any(pattern in name for pattern in self.patterns):
            meta["et_init_buffer"] = True
        return super().placeholder(name, arg, meta)
