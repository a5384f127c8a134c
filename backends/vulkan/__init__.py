# SPDX-License-Identifier: BSD-3-Clause
"""Vulkan: GPUs, by compute shaders."""

from executorch.backends.vulkan.partitioner.vulkan_partitioner import VulkanPartitioner
from executorch.backends.vulkan.vulkan_preprocess import VulkanBackend

__all__ = ["VulkanBackend", "VulkanPartitioner"]
