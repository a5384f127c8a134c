# SPDX-License-Identifier: BSD-3-Clause
"""The operators of a payload, for tools (exir/backend/payload.py)."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import fields
from typing import Any

from executorch.backends.xnnpack.serialization.graph import NO_DEBUG_HANDLE, deserialize
from executorch.exir.backend.payload import PayloadConstant, PayloadOperator

BACKEND_ID = "XnnpackBackend"


def operators(payload: bytes) -> list[PayloadOperator]:
    """In the order in which they run. ValueError for bytes that are no payload."""
    graph = deserialize(payload)
    return [_operator(graph, node) for node in graph.xnodes or ()]


def _operator(graph: Any, node: Any) -> PayloadOperator:
    handle = node.debug_handle
    constants = [
        constant
        for value_id in operands(node)
        if value_id < len(graph.xvalues)
        for constant in _constants(graph, graph.xvalues[value_id].xvalue_union)
    ]
    return PayloadOperator(
        type(node.xnode_union).__name__.removeprefix("XNN"),
        None if handle in (None, NO_DEBUG_HANDLE) else handle,
        tuple(dict.fromkeys(constants)),
    )


def operands(node: Any) -> list[int]:
    """The ids of the values that a node reads, those that mean "none" included."""
    union = node.xnode_union
    return [
        getattr(union, each.name)
        for each in fields(union)
        if each.name.endswith("_id") and each.name != "output_id"
    ]


def _constants(graph: Any, value: Any) -> Iterator[PayloadConstant]:
    tensor = getattr(value, "tensor_value", value)
    places = [
        tensor.constant_buffer_idx,
        getattr(getattr(value, "quant_params", None), "scale_buffer_idx", 0),
    ]
    for place in filter(None, places):
        if graph.constant_data and place < len(graph.constant_data):
            data = graph.constant_data[place]
            yield PayloadConstant(data.size or 0, data.named_key or None)
        elif graph.constant_buffer and place < len(graph.constant_buffer):
            yield PayloadConstant(len(graph.constant_buffer[place].storage))
