# SPDX-License-Identifier: BSD-3-Clause
"""What tools may ask of a payload (exir/backend/payload.py)."""

from __future__ import annotations

from typing import Any

from executorch.exir.backend.payload import PayloadConstant, PayloadOperator, PayloadValue

BACKEND_ID = "VulkanBackend"


def operators(payload: bytes) -> list[PayloadOperator]:
    """In the order in which they run. ValueError for bytes that are no payload."""
    from executorch.backends.vulkan.aot.schema import SCHEMA
    from executorch.exir.backend.lowering.payload.blocks import VULKAN_HEADER

    graph = SCHEMA.unpack(VULKAN_HEADER.read(payload)["flatbuffer"])
    constants = [
        PayloadConstant(each.length or 0, each.named_key) for each in graph.constants or ()
    ]

    def read(ids: list[int]) -> list[PayloadConstant]:
        found = []
        for place in ids:
            value = graph.values[place].value if 0 <= place < len(graph.values) else None
            if type(value).__name__ == "ValueList" and place not in (value.items or ()):
                found += read(value.items or [])
            number = getattr(value, "constant_id", None)
            if number is not None and 0 <= number < len(constants):
                found.append(constants[number])
        return found

    return [
        PayloadOperator(call.name or "", None, tuple(read(call.args or [])))
        for call in graph.chain or ()
    ]


def expose(payload: bytes) -> tuple[bytes, list[PayloadValue]]:
    """The payload with what its calls compute as outputs, in the dtypes of the border; of several results the first,
    where it is the only one that is read."""
    from executorch.backends.vulkan.aot.schema import DATA_TYPES, SCHEMA
    from executorch.exir.backend.lowering.payload.blocks import VULKAN_HEADER

    regions = VULKAN_HEADER.read(payload)
    graph = SCHEMA.unpack(regions["flatbuffer"])
    dtypes = {kind: dtype for dtype, kind in DATA_TYPES.items()}
    read = {
        each for call in graph.chain for place in call.args[:-1] for each in _items(graph, place)
    }
    kept = {call.args[1] for call in graph.chain if call.name == "et_vk.prepack.default"}
    values: list[PayloadValue] = []
    for call in graph.chain:
        first, *others = _items(graph, call.args[-1]) or [-1]
        tensor = graph.values[first].value if first >= 0 else None
        if type(tensor).__name__ != "VkTensor" or first in kept or not read.isdisjoint(others):
            continue
        if first not in graph.output_ids:
            graph.output_ids.append(first)
        place = len(graph.input_ids) + graph.output_ids.index(first)
        dtype = dtypes[tensor.staging_datatype]
        values.append(PayloadValue(call.node_id or 0, place, dtype, tuple(tensor.dims or ())))
    return VULKAN_HEADER.write({**regions, "flatbuffer": SCHEMA.pack(graph)}), values


def _items(graph: Any, place: int) -> list[int]:
    value = graph.values[place].value
    return list(value.items or ()) if type(value).__name__ == "ValueList" else [place]
