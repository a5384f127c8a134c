# SPDX-License-Identifier: BSD-3-Clause
"""XNNPACK: in float32, and in int8 in three ways."""

from __future__ import annotations

from executorch.backends.test.suite.flow import TestFlow
from executorch.backends.xnnpack.quantizer.xnnpack_quantizer import (
    get_symmetric_quantization_config,
)
from executorch.backends.xnnpack.test.tester import Quantize, Tester


def _quantized(name: str, is_per_channel: bool, is_dynamic: bool) -> TestFlow:
    def stage() -> Quantize:
        config = get_symmetric_quantization_config(is_per_channel, is_dynamic=is_dynamic)
        return Quantize(quantization_config=config)

    return TestFlow(
        f"xnnpack_{name}", "xnnpack", Tester, quantize=True, quantize_stage_factory=stage
    )


XNNPACK_TEST_FLOW = TestFlow("xnnpack", "xnnpack", Tester)
XNNPACK_DYNAMIC_INT8_PER_CHANNEL_TEST_FLOW = _quantized("dynamic_int8_per_channel", True, True)
XNNPACK_STATIC_INT8_PER_CHANNEL_TEST_FLOW = _quantized("static_int8_per_channel", True, False)
XNNPACK_STATIC_INT8_PER_TENSOR_TEST_FLOW = _quantized("static_int8_per_tensor", False, False)
FLOWS = [
    XNNPACK_TEST_FLOW,
    XNNPACK_DYNAMIC_INT8_PER_CHANNEL_TEST_FLOW,
    XNNPACK_STATIC_INT8_PER_CHANNEL_TEST_FLOW,
    XNNPACK_STATIC_INT8_PER_TENSOR_TEST_FLOW,
]
