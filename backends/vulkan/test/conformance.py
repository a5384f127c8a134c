# SPDX-License-Identifier: BSD-3-Clause
"""The hook of backends/test/conformance."""

from __future__ import annotations

from dataclasses import replace
from functools import partial

import torch

from executorch.backends.test.conformance.backend import Backend
from executorch.backends.vulkan.partitioner.vulkan_partitioner import VulkanPartitioner
from executorch.backends.vulkan.test import reference

BACKENDS = [Backend("VulkanBackend", VulkanPartitioner, reference=reference.load)]


def by_reference(force_fp16: bool = False) -> Backend:
    """Payloads run in Python."""
    return replace(
        BACKENDS[0],
        partitioner=partial(VulkanPartitioner, {"force_fp16": force_fp16}),
        floats_inside=torch.float16 if force_fp16 else torch.float32,
        runtime=False,
        converts=True,
    )


def on_device(force_fp16: bool = False) -> Backend:
    return replace(by_reference(force_fp16), runtime=True)
