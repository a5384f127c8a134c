# SPDX-License-Identifier: BSD-3-Clause
"""The line of the user's Python that a node comes from, for error messages."""

from __future__ import annotations

from torch.fx import Node


def source_line(node: Node) -> str:
    """' from File ...: code' of the innermost frame; empty when the program has not kept it."""
    trace = node.meta.get("stack_trace")
    if not trace:
        return ""
    frames = [line.strip() for line in trace.strip().splitlines() if line.strip()]
    places = [index for index, line in enumerate(frames) if line.startswith("File ")]
    if not places:
        return ""
    return " from " + ": ".join(frames[places[-1] : places[-1] + 2])
