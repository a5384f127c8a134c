# SPDX-License-Identifier: BSD-3-Clause
# compat
"""Lowering operators of one's own: a `NodeVisitor` per operator, registered by its `target`.

The operators that this backend knows are rows of aot/ops.py and are lowered by them; a visitor serves what has no row.
"""

from executorch.backends.xnnpack.operators.node_visitor import (
    NodeVisitor,
    get_node_visitors,
    register_node_visitor,
)

__all__ = ["NodeVisitor", "get_node_visitors", "register_node_visitor"]
