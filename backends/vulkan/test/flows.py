# SPDX-License-Identifier: BSD-3-Clause
"""Vulkan: in float32, and in int8 by calibration."""

from __future__ import annotations

from functools import partial

from executorch.backends.test.harness import Tester
from executorch.backends.test.harness.stages import (
    Quantize,
    StageType,
    ToEdgeTransformAndLower,
)
from executorch.backends.test.suite.flow import TestFlow
from executorch.backends.vulkan.partitioner.vulkan_partitioner import VulkanPartitioner
from executorch.backends.vulkan.quantizer.vulkan_quantizer import (
    VulkanQuantizer,
    get_static_quantization_config,
)


def _lower() -> ToEdgeTransformAndLower:
    return ToEdgeTransformAndLower(partitioners=[VulkanPartitioner()])


def _quantize() -> Quantize:
    return Quantize(VulkanQuantizer(), get_static_quantization_config())


_STAGES = Tester.default_stage_classes() | {StageType.TO_EDGE_TRANSFORM_AND_LOWER: _lower}
_tester = partial(Tester, stage_classes=_STAGES)
# float16 and float64 are the inputs' dtypes of some rows
VULKAN_TEST_FLOW = TestFlow("vulkan", "vulkan", _tester, skip_patterns=["float16", "float64"])
VULKAN_STATIC_INT8_PER_CHANNEL_TEST_FLOW = TestFlow(
    "vulkan_static_int8_per_channel",
    "vulkan",
    _tester,
    quantize=True,
    quantize_stage_factory=_quantize,
    skip_patterns=["float16", "float64"],
)
FLOWS = [VULKAN_TEST_FLOW, VULKAN_STATIC_INT8_PER_CHANNEL_TEST_FLOW]
