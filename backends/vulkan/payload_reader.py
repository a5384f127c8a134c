# SPDX-License-Identifier: BSD-3-Clause
"""What tools may ask of a payload (exir/backend/payload.py)."""

from __future__ import annotations

from executorch.exir.backend.payload import PayloadConstant, PayloadOperator

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
