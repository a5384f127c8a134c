# SPDX-License-Identifier: BSD-3-Clause
# compat
"""The largest partitions of nodes that match one of some patterns, or that an operator support takes.

Patterns are graphs, matched by torch's SubgraphMatcher, whose rules are the contract of these functions: literals,
overlapping matches, placeholders that stand for any node. Backends of ours write patterns as calls with conditions
(exir/backend/lowering/patterns.py), of which a graph says nothing."""

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

from executorch.exir.backend.canonical_partitioners.group_partitioner import GroupBasedPartitioner

_BOUNDARY = ("placeholder", "get_attr", "output")


def create_pattern_support(
    graph_module: GraphModule, patterns: Sequence[Graph], ignore_literals: bool = False
) -> OperatorSupportBase:
    """Supports the calls of `graph_module` that are part of a match; they get `meta["match"]`. Inputs and the output
    of a pattern are not; with `ignore_literals` numbers in it stand for any."""
    matched = {
        node
        for pattern in patterns
        for match in SubgraphMatcher(pattern, ignore_literals=ignore_literals).match(
            graph_module.graph
        )
        for of_pattern, node in match.nodes_map.items()
        if of_pattern.op not in _BOUNDARY and isinstance(node, Node)
    }
    for node in matched:
        node.meta["match"] = True
    return create_op_support(lambda submodules, node: node in matched)


def generate_pattern_op_partitions(
    graph_module: GraphModule,
    patterns: Sequence[Graph] | None = None,
    partitions_list: Sequence[Sequence[Node]] | None = None,
    op_support: OperatorSupportBase | None = None,
    ignore_literals: bool = False,
) -> list[Partition]:
    """Partitions of what `patterns`, the lists of nodes or `op_support` take; neighbours are merged wherever that makes
    no cycle."""
    given = [op_support] if op_support is not None else []
    if patterns:
        given.append(create_pattern_support(graph_module, patterns, ignore_literals))
    if partitions_list:
        given.append(_support_of(partitions_list))
    if not given:
        return []
    return CapabilityBasedPartitioner(
        graph_module, any_chain(*given), allows_single_node_partition=True
    ).propose_partitions()


def generate_partitions_from_list_of_nodes(
    graph_module: GraphModule,
    pattern_list: Sequence[Sequence[Node]] | None = None,
    op_support: OperatorSupportBase | None = None,
) -> list[Partition]:
    """Partitions of nodes that are already chosen, each list of them a match, and of what `op_support` takes."""
    support = _chosen_support(pattern_list, op_support)
    return generate_pattern_op_partitions(graph_module, op_support=support)


def generate_grouped_partitions_from_list_of_nodes(
    graph_module: GraphModule,
    pattern_list: Sequence[Sequence[Node]] | None = None,
    op_support: OperatorSupportBase | None = None,
) -> list[Partition]:
    """The same, where the nodes of one list are never parted."""
    support = _chosen_support(pattern_list, op_support)
    return GroupBasedPartitioner(
        graph_module,
        support,
        allows_single_node_partition=True,
        node_groups=[list(nodes) for nodes in pattern_list or ()],
    ).propose_partitions()


def _chosen_support(
    pattern_list: Sequence[Sequence[Node]] | None, op_support: OperatorSupportBase | None
) -> OperatorSupportBase:
    if pattern_list is None and op_support is None:
        raise AssertionError(
            "Did not give a pattern or OperatorSupportBase instance to partition with"
        )
    given = [op_support] if op_support is not None else []
    return any_chain(*given, _support_of(pattern_list or ()))


def _support_of(pattern_list: Sequence[Sequence[Node]]) -> OperatorSupportBase:
    chosen = {node for nodes in pattern_list for node in nodes}
    for node in chosen:
        node.meta["match"] = True
    return create_op_support(lambda submodules, node: node in chosen)
