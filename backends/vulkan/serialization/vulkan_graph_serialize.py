# SPDX-License-Identifier: BSD-3-Clause
# compat
"""Payloads as graphs and back under the names that users import."""

from typing import Any

from executorch.backends.vulkan.aot.schema import SCHEMA
from executorch.exir.backend.lowering.payload.blocks import VULKAN_HEADER


def convert_to_flatbuffer(vk_graph: Any) -> bytes:
    return SCHEMA.pack(vk_graph)


def flatbuffer_to_vk_graph(flatbuffers: bytes) -> Any:
    """ValueError for bytes that are no graph."""
    return SCHEMA.unpack(bytes(flatbuffers))


def extract_vk_flatbuffer(data: bytes) -> bytes:
    """Of a payload. ValueError for bytes that are none."""
    return bytes(VULKAN_HEADER.read(bytes(data))["flatbuffer"])
