# SPDX-License-Identifier: BSD-3-Clause
"""The largest partitions of nodes that match one of some patterns, or that an operator support takes."""

from __future__ import annotations

from collections.abc import Sequence

from torch.fx import Graph, GraphModule, Node
from torch.fx.passes.infra.partitioner import CapabilityBasedPartitioner, Partition
from torch.fx.passes.operator_support import (
    OperatorSupportBase,
    any_chain,
    create_op_support,
)
from torch.fx.passes.utils.matcher_utils import SubgraphMatcher

_BOUNDARY = ("placeholder", "get_attr", "output")


def create_pattern_support(
    graph_module: GraphModule, patterns: Sequence[Graph]
) -> OperatorSupportBase:
    """Supports the calls of `graph_module` that are part of a match. Inputs and the output of a pattern are not."""
    matched = {
        node
        for pattern in patterns
        for match in SubgraphMatcher(pattern).match(graph_module.graph)
        for of_pattern, node in match.nodes_map.items()
        if of_pattern.op not in _BOUNDARY and isinstance(node, Node)
    }
    return create_op_support(lambda submodules, node: node in matched)


def generate_pattern_op_partitions(
    graph_module: GraphModule,
    patterns: Sequence[Graph] | None = None,
    op_support: OperatorSupportBase | None = None,
) -> list[Partition]:
    """Partitions of what `patterns` or `op_support` take; neighbours are merged wherever that makes no cycle."""
    given = [op_support] if op_support is not None else []
    if patterns:
        given.append(create_pattern_support(graph_module, patterns))
    if not given:
        return []
    return CapabilityBasedPartitioner(
        graph_module, any_chain(*given), allows_single_node_partition=True
    ).propose_partitions()


def generate_partitions_from_list_of_nodes(
    graph_module: GraphModule, pattern_list: Sequence[Sequence[Node]] | None = None
) -> list[Partition]:
    """Partitions of nodes that are already chosen, each list of them a match."""
    chosen = {node for nodes in pattern_list or () for node in nodes}
    if not chosen:
        return []
    support = create_op_support(lambda submodules, node: node in chosen)
    return generate_pattern_op_partitions(graph_module, op_support=support)
