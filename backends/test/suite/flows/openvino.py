# SPDX-License-Identifier: BSD-3-Clause
"""OpenVINO: in float32, and in int8."""

from __future__ import annotations

from executorch.backends.openvino.aot.compiler import OPENVINO
from executorch.backends.openvino.quantizer.nncf_library import NNCF
from executorch.backends.openvino.test.tester import OpenVINOTester, Quantize
from executorch.backends.test.suite.flow import TestFlow

for package in (OPENVINO, NNCF):
    package.require()  # an ImportError: the suite goes on without these flows

OPENVINO_TEST_FLOW = TestFlow("openvino", "openvino", OpenVINOTester)
OPENVINO_INT8_TEST_FLOW = TestFlow(
    "openvino_int8", "openvino", OpenVINOTester, quantize=True, quantize_stage_factory=Quantize
)
