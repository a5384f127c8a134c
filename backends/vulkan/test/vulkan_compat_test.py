# SPDX-License-Identifier: BSD-3-Clause
"""Names of documents and of users' programs that are other modules' (VK-002)."""

from __future__ import annotations

import pytest
import torch
from torch import nn

from executorch.backends.vulkan.aot.ops import TABLE
from executorch.backends.vulkan.op_registry import get_op_features, has_impl, vulkan_supported_ops
from executorch.backends.vulkan.serialization.vulkan_graph_schema import OperatorCall, VkGraph
from executorch.backends.vulkan.serialization.vulkan_graph_serialize import (
    VulkanDelegateHeader,
    convert_to_flatbuffer,
    extract_vk_flatbuffer,
    flatbuffer_to_vk_graph,
    serialize_vulkan_graph,
)
from executorch.backends.vulkan.test.lowered import delegates, lower
from executorch.exir.dialects._ops import ops as exir_ops


@pytest.mark.req("VK-002")
def test_the_registry_is_the_table() -> None:
    add = TABLE["aten.add.Tensor"]
    for target in (exir_ops.edge.aten.add.Tensor, torch.ops.aten.add.Tensor, "aten::add.Tensor"):
        assert has_impl(target) and get_op_features(target) is add
    assert has_impl("aten::relu") and not has_impl(torch.ops.aten.cumsum.default)
    assert vulkan_supported_ops["aten.add.Tensor"] is add


def test_graphs_there_and_back() -> None:
    (module,) = delegates(lower(nn.ReLU(), (torch.randn(2, 3),)))
    data = extract_vk_flatbuffer(module.processed_bytes)
    graph = flatbuffer_to_vk_graph(data)
    assert isinstance(graph, VkGraph) and isinstance(graph.chain[0], OperatorCall)
    assert graph.chain[0].name == "aten.relu.default"
    assert convert_to_flatbuffer(graph) == data


def test_a_graph_with_tensors_of_its_own_becomes_a_payload() -> None:
    (module,) = delegates(lower(nn.ReLU(), (torch.randn(2, 3),)))
    graph = flatbuffer_to_vk_graph(extract_vk_flatbuffer(module.processed_bytes))
    tensors = [torch.arange(3.0), torch.arange(8, dtype=torch.int32)]
    payload = serialize_vulkan_graph(graph, tensors, [])
    header = VulkanDelegateHeader.from_bytes(payload)
    assert header.is_valid() and header.to_bytes() == payload[:30]
    assert (header.flatbuffer_offset, header.bytes_size) == (
        32,
        48,
    )  # 12 bytes padded to 16, and 32
    assert len(payload) == header.bytes_offset + 48 and header.bytes_offset % 16 == 0
    entries = flatbuffer_to_vk_graph(extract_vk_flatbuffer(payload)).constants
    assert [(each.offset, each.length) for each in entries] == [(0, 12), (16, 32)]
    raw = payload[header.bytes_offset :]
    assert raw[:12] == tensors[0].numpy().tobytes() and raw[16:] == tensors[1].numpy().tobytes()
    with pytest.raises(NotImplementedError):
        serialize_vulkan_graph(graph, [], ["a shader"])
    for wrong in (b"", payload[:20], b"\0" * 32):
        with pytest.raises(ValueError, match="expected a header of 30 bytes"):
            VulkanDelegateHeader.from_bytes(wrong)
    assert not VulkanDelegateHeader(32, 100, 64, 0).is_valid()
