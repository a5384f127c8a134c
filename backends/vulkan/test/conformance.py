# SPDX-License-Identifier: BSD-3-Clause
"""The hook of backends/test/conformance."""

from executorch.backends.test.conformance.backend import Backend
from executorch.backends.vulkan.partitioner.vulkan_partitioner import VulkanPartitioner
from executorch.backends.vulkan.test import reference

BACKENDS = [Backend("VulkanBackend", VulkanPartitioner, reference=reference.load)]
