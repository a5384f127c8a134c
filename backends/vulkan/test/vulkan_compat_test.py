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
    convert_to_flatbuffer,
    extract_vk_flatbuffer,
    flatbuffer_to_vk_graph,
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
