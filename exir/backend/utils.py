# SPDX-License-Identifier: BSD-3-Clause
"""What partitioners and backends are written with, under its documented path."""

from executorch.exir.backend._constants import (
    is_shape_dynamic,
    tag_constant_data,
    tag_mutated_buffer,
)
from executorch.exir.backend._debug_handles import DelegateMappingBuilder
from executorch.exir.backend._same_graph import is_identical_graph, is_same_node
from executorch.exir.backend._show import (
    format_delegated_graph,
    get_delegated_payload,
    get_delegates,
    get_non_lowered_nodes,
    print_delegated_graph,
)
from executorch.exir.backend._why_not import (
    ReportRejected,
    WhyNoPartition,
    WhyNoPartitionReporter,
)

__all__ = [
    "DelegateMappingBuilder",
    "ReportRejected",
    "WhyNoPartition",
    "WhyNoPartitionReporter",
    "format_delegated_graph",
    "get_delegated_payload",
    "get_delegates",
    "get_non_lowered_nodes",
    "is_identical_graph",
    "is_same_node",
    "is_shape_dynamic",
    "print_delegated_graph",
    "tag_constant_data",
    "tag_mutated_buffer",
]
