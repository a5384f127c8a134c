# SPDX-License-Identifier: BSD-3-Clause
# compat
"""Payloads as graphs and back under the names that users import."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import astuple, dataclass
from typing import Any, ClassVar

from torch import Tensor

from executorch.backends.vulkan.aot.schema import SCHEMA
from executorch.exir._serialize._tensor_bytes import tensor_bytes
from executorch.exir.backend.lowering.payload.blocks import VULKAN_HEADER

_ALIGNMENT = VULKAN_HEADER.written_alignment


@dataclass
class VulkanDelegateHeader:
    """What stands before the flatbuffer: where it and the raw bytes of constants are, from the payload's beginning."""

    EXPECTED_MAGIC: ClassVar[bytes] = VULKAN_HEADER.magic
    EXPECTED_LENGTH: ClassVar[int] = VULKAN_HEADER.num_bytes

    flatbuffer_offset: int
    flatbuffer_size: int
    bytes_offset: int
    bytes_size: int

    @staticmethod
    def from_bytes(data: bytes) -> VulkanDelegateHeader:
        """ValueError for bytes that are no such header."""
        length = VULKAN_HEADER.length.read(data)
        expected = VulkanDelegateHeader.EXPECTED_LENGTH
        if not VULKAN_HEADER.has_magic(data) or length != expected or len(data) < expected:
            raise ValueError(
                f"expected a header of {expected} bytes with {VULKAN_HEADER.magic!r} at byte {VULKAN_HEADER.magic_at}, "
                f"found {len(data)} bytes with {bytes(data[4:8])!r} and a length of {length}"
            )
        rows = VULKAN_HEADER.regions
        return VulkanDelegateHeader(*(n.read(data) for row in rows for n in (row.offset, row.size)))

    def is_valid(self) -> bool:
        is_behind = self.bytes_offset >= self.flatbuffer_offset + self.flatbuffer_size
        return self.flatbuffer_size > 0 and self.bytes_size >= 0 and is_behind

    def to_bytes(self) -> bytes:
        """ValueError where it is not valid."""
        if not self.is_valid():
            raise ValueError(f"{self}: expected a flatbuffer, then raw bytes")
        first, first_size, second, second_size = astuple(self)
        return VULKAN_HEADER.header([(first, first_size), (second, second_size)])


def padding_required(num_bytes: int, alignment: int = _ALIGNMENT) -> int:
    return -num_bytes % alignment


def aligned_size(num_bytes: int, alignment: int = _ALIGNMENT) -> int:
    return num_bytes + padding_required(num_bytes, alignment)


def pad_to(data: bytes, size: int) -> bytes:
    return bytes(data).ljust(size, b"\0")


def serialize_constant_tensors(
    vk_graph: Any, const_tensors: Sequence[Tensor], raw_bytes: bytearray
) -> None:
    """Behind `raw_bytes`, each padded; the graph is told where."""
    for tensor in const_tensors:
        data = bytes(memoryview(tensor_bytes(tensor.detach().contiguous())))
        entry = SCHEMA.make("VkBytes", offset=len(raw_bytes), length=len(data))
        vk_graph.constants.append(entry)
        raw_bytes += pad_to(data, aligned_size(len(data)))


def serialize_custom_shaders(vk_graph: Any, custom_shaders: Sequence[str], raw: bytearray) -> None:
    if custom_shaders:
        raise NotImplementedError("a payload has no shaders of its own")


def serialize_vulkan_graph(
    vk_graph: Any, const_tensors: Sequence[Tensor], custom_shaders: Sequence[str]
) -> bytes:
    """The payload."""
    raw_bytes = bytearray()
    serialize_constant_tensors(vk_graph, const_tensors, raw_bytes)
    serialize_custom_shaders(vk_graph, custom_shaders, raw_bytes)
    regions = {"flatbuffer": convert_to_flatbuffer(vk_graph), "constants": bytes(raw_bytes)}
    return VULKAN_HEADER.write(regions)


def convert_to_flatbuffer(vk_graph: Any) -> bytes:
    return SCHEMA.pack(vk_graph)


def flatbuffer_to_vk_graph(flatbuffers: bytes) -> Any:
    """ValueError for bytes that are no graph."""
    return SCHEMA.unpack(bytes(flatbuffers))


def extract_vk_flatbuffer(data: bytes) -> bytes:
    """Of a payload. ValueError for bytes that are none."""
    return bytes(VULKAN_HEADER.read(bytes(data))["flatbuffer"])
