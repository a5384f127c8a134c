# SPDX-License-Identifier: BSD-3-Clause
"""OpenVINO: in float32, and in int8 where NNCF is installed."""

from __future__ import annotations

from executorch.backends.openvino.quantizer.nncf_library import NNCF
from executorch.backends.openvino.test.tester import OpenVINOTester, Quantize
from executorch.backends.test.suite.flow import TestFlow

OPENVINO_TEST_FLOW = TestFlow("openvino", "openvino", OpenVINOTester)
OPENVINO_INT8_TEST_FLOW = TestFlow(
    "openvino_int8", "openvino", OpenVINOTester, quantize=True, quantize_stage_factory=Quantize
)
FLOWS = [OPENVINO_TEST_FLOW, *([] if NNCF.why_missing() else [OPENVINO_INT8_TEST_FLOW])]
