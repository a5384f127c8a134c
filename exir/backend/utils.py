# SPDX-License-Identifier: BSD-3-Clause
"""What partitioners and backends are written with, under its documented path."""

from executorch.exir.backend._constants import tag_constant_data, tag_mutated_buffer
from executorch.exir.backend._debug_handles import DelegateMappingBuilder
from executorch.exir.backend._quantized_partitions import (
    T_DQuantPerTensor,
    T_QuantPerTensor,
    _get_item_from_executorch_call_delegate,
    remove_first_quant_and_last_dequant,
    replace_quantized_partition_with_op,
)
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
from executorch.exir.graph_facts import is_shape_dynamic

__all__ = [
    "DelegateMappingBuilder",
    "ReportRejected",
    "T_DQuantPerTensor",
    "T_QuantPerTensor",
    "WhyNoPartition",
    "WhyNoPartitionReporter",
    "_get_item_from_executorch_call_delegate",
    "format_delegated_graph",
    "get_delegated_payload",
    "get_delegates",
    "get_non_lowered_nodes",
    "is_identical_graph",
    "is_same_node",
    "is_shape_dynamic",
    "print_delegated_graph",
    "remove_first_quant_and_last_dequant",
    "replace_quantized_partition_with_op",
    "tag_constant_data",
    "tag_mutated_buffer",
]
