# SPDX-License-Identifier: BSD-3-Clause
"""The operators of a payload, for tools (exir/backend/payload.py)."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import fields
from typing import TYPE_CHECKING, Any

from executorch.backends.xnnpack.aot.options import XnnpackOptions
from executorch.backends.xnnpack.serialization.graph import (
    NO_DEBUG_HANDLE,
    deserialize,
    serialize,
)
from executorch.exir.backend.lowering.payload.blocks import XNNPACK_HEADER
from executorch.exir.backend.payload import PayloadConstant, PayloadOperator, PayloadValue

if TYPE_CHECKING:  # who reads a payload needs no PyTorch
    pass

BACKEND_ID = "XnnpackBackend"
OPTIONS = XnnpackOptions
_OUTPUT = 2
_DTYPES = {
    "xnn_datatype_fp32": "float32",
    "xnn_datatype_fp16": "float16",
    "xnn_datatype_qint8": "int8",
    "xnn_datatype_quint8": "uint8",
}


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


def expose(payload: bytes) -> tuple[bytes, list[PayloadValue]]:
    """The payload with what its operators write as outputs, but for values that no tensor can hold."""
    import torch

    graph, constants = deserialize(payload), XNNPACK_HEADER.read(payload)["constants"]
    last = {
        node.debug_handle: node
        for node in graph.xnodes
        if node.debug_handle not in (None, NO_DEBUG_HANDLE)
    }
    values = []
    for handle, node in last.items():
        value_id, bounds = node.xnode_union.output_id, node.output_min_max
        union = graph.xvalues[value_id].xvalue_union
        tensor = getattr(union, "tensor_value", union)
        if tensor.datatype.name not in _DTYPES:
            continue
        dtype = getattr(torch, _DTYPES[tensor.datatype.name])
        if not tensor.flags:
            tensor.flags, tensor.external_id = _OUTPUT, graph.num_externs
            graph.num_externs += 1
            graph.output_ids.append(value_id)
        is_cut = bounds is not None and dtype.is_floating_point
        limits = (bounds.output_min, bounds.output_max) if is_cut else None
        values.append(PayloadValue(handle, tensor.external_id, dtype, tuple(tensor.dims), limits))
    return serialize(graph, constants), values
