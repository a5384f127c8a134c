# SPDX-License-Identifier: BSD-3-Clause
# compat
"""A payload's bytes: documented names of graph.py."""

from typing import Any

from executorch.backends.xnnpack.serialization.graph import ALIGNMENT, XNNHeader, serialize
from executorch.exir._serialize._flatbuffer import _flatc_compile

CONSTANT_TENSOR_ALIGNMENT = ALIGNMENT


def serialize_xnnpack_binary(xnnpack_graph: Any, constant_data_bytes: bytearray) -> bytes:
    """Header, graph, and the constants that `constant_data` of the graph gives offsets of."""
    return serialize(xnnpack_graph, constant_data_bytes)


__all__ = ["CONSTANT_TENSOR_ALIGNMENT", "XNNHeader", "_flatc_compile", "serialize_xnnpack_binary"]
