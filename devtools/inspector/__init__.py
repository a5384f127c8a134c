# SPDX-License-Identifier: BSD-3-Clause
"""The Inspector: what a program did on the device, and which lines of Python that was."""

from executorch.devtools.inspector._inspector import Event, EventBlock, Inspector, PerfData
from executorch.devtools.inspector._inspector_utils import TimeScale, compare_results
from executorch.devtools.inspector.vgf_neural_statistics import (
    parse_vgf_neural_statistics_delegate_metadata,
    parse_vgf_neural_statistics_metadata,
)

__all__ = [
    "Event",
    "EventBlock",
    "Inspector",
    "PerfData",
    "TimeScale",
    "compare_results",
    "parse_vgf_neural_statistics_delegate_metadata",
    "parse_vgf_neural_statistics_metadata",
]
