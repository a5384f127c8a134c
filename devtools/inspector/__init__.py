# SPDX-License-Identifier: BSD-3-Clause
"""The Inspector: what a program did on the device, and which lines of Python that was."""

from typing import TYPE_CHECKING

from executorch._lazy import lazy_names

if TYPE_CHECKING:
    from executorch.devtools.inspector._inspector import Event, EventBlock, Inspector, PerfData
    from executorch.devtools.inspector._inspector_utils import TimeScale, compare_results
    from executorch.devtools.inspector.vgf_neural_statistics import (
        parse_vgf_neural_statistics_delegate_metadata,
        parse_vgf_neural_statistics_metadata,
    )

# Imported when they are asked for: times of a program without a record need no PyTorch.
_HOMES = {
    "Event": "_inspector",
    "EventBlock": "_inspector",
    "Inspector": "_inspector",
    "PerfData": "_inspector",
    "TimeScale": "_inspector_utils",
    "compare_results": "_inspector_utils",
    "parse_vgf_neural_statistics_delegate_metadata": "vgf_neural_statistics",
    "parse_vgf_neural_statistics_metadata": "vgf_neural_statistics",
}
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

__getattr__, __dir__ = lazy_names(__name__, _HOMES)
