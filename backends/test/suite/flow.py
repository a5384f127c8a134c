# SPDX-License-Identifier: BSD-3-Clause
"""`TestFlow`: one way to take a model to a program: which backend, quantized or not, what to skip."""

from __future__ import annotations

import importlib
import logging
from collections.abc import Callable
from dataclasses import dataclass, field
from typing import Any

from executorch.backends.test.harness import Tester
from executorch.backends.test.harness.stages import Quantize

logger = logging.getLogger(__name__)


@dataclass
class TestFlow:
    __test__ = False  # nothing for pytest to collect

    name: str
    backend: str
    tester_factory: Callable[..., Tester]
    quantize: bool = False
    quantize_stage_factory: Callable[..., Quantize] | None = None
    is_delegated: bool = True  # whether calls are expected to be
    skip_patterns: list[str] = field(default_factory=list)
    param_skip_reasons: dict[str, dict[Any, str]] = field(default_factory=dict)
    supports_serialize: bool = True

    def should_skip_test(
        self, test_name: str, params: dict[str, Any] | None = None
    ) -> tuple[bool, str]:
        """(whether, why); `skip_patterns` are parts of names."""
        if any(pattern in test_name for pattern in self.skip_patterns):
            return True, f"Skipped by {self.name} skip_patterns"
        for parameter, reasons in self.param_skip_reasons.items():
            value = (params or {}).get(parameter)
            if value in reasons:
                return True, reasons[value]
        return False, ""

    def __str__(self) -> str:
        return self.name


# module of flows -> the names of its flows
_FLOWS = {
    "openvino": ["OPENVINO_TEST_FLOW", "OPENVINO_INT8_TEST_FLOW"],
    "portable": ["PORTABLE_TEST_FLOW"],
    "xnnpack": [
        "XNNPACK_TEST_FLOW",
        "XNNPACK_DYNAMIC_INT8_PER_CHANNEL_TEST_FLOW",
        "XNNPACK_STATIC_INT8_PER_CHANNEL_TEST_FLOW",
        "XNNPACK_STATIC_INT8_PER_TENSOR_TEST_FLOW",
    ],
}


def all_flows() -> dict[str, TestFlow]:
    """name -> flow, of every backend whose packages are installed."""
    flows: dict[str, TestFlow] = {}
    for module, names in _FLOWS.items():
        try:
            found = importlib.import_module(f"executorch.backends.test.suite.flows.{module}")
        except ImportError as error:
            logger.info("no flows of %s: %s", module, error)
            continue
        flows.update({flow.name: flow for flow in (getattr(found, name) for name in names)})
    return flows
