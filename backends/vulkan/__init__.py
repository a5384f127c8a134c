# SPDX-License-Identifier: BSD-3-Clause
"""Vulkan: GPUs, by compute shaders."""

from __future__ import annotations

from executorch._lazy import lazy_names

_HOMES = {
    "VulkanBackend": "vulkan_preprocess",
    "VulkanPartitioner": "partitioner.vulkan_partitioner",
}
LAZY_IMPORTS = {name: (f"{__name__}.{home}", name) for name, home in _HOMES.items()}
__getattr__, __dir__ = lazy_names(__name__, _HOMES)
