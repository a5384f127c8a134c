# SPDX-License-Identifier: BSD-3-Clause
# compat
"""The largest partitions of supported nodes in which given groups of nodes stay together."""

from __future__ import annotations

from collections.abc import Sequence

from torch.fx import GraphModule, Node
from torch.fx.passes.infra.partitioner import CapabilityBasedPartitioner, Partition
from torch.fx.passes.operator_support import OperatorSupportBase

from executorch.exir.backend._grouping import grouped_partitions


class GroupBasedPartitioner(CapabilityBasedPartitioner):
    """torch's partitioner, with `node_groups`: nodes of one group are in one partition, or in none. Without groups its
    partitions are torch's."""

    def __init__(
        self,
        graph_module: GraphModule,
        operator_support: OperatorSupportBase,
        allows_single_node_partition: bool = False,
        non_compute_ops: Sequence[str] | None = None,
        allowed_single_node_partition_ops: Sequence[str] | None = None,
        node_groups: list[list[Node]] | None = None,
    ) -> None:
        super().__init__(
            graph_module,
            operator_support,
            allows_single_node_partition,
            non_compute_ops,
            allowed_single_node_partition_ops,
        )
        self.node_groups = node_groups or []
        seen: set[Node] = set()
        for node in (node for group in self.node_groups for node in group):
            if node in seen:
                raise ValueError(f"Node {node} exists in multiple groups.")
            seen.add(node)

    def propose_partitions(self) -> list[Partition]:
        if not self.node_groups:
            return super().propose_partitions()
        graph = self.graph_module.graph
        supported = {node for node in graph.nodes if self._is_node_supported(node)}
        whole = [group for group in self.node_groups if group and supported.issuperset(group)]
        grouped = {node for group in self.node_groups for node in group}
        alone = [[node] for node in graph.nodes if node in supported and node not in grouped]
        found = grouped_partitions(graph, [*whole, *alone])
        if self.allows_single_node_partition:
            return found
        compute = set(self.non_compute_ops)
        return [
            each
            for each in found
            if sum(str(node.target) not in compute for node in each.nodes) > 1
            or any(
                str(node.target) in (self.allowed_single_node_partition_ops or ())
                for node in each.nodes
            )
        ]
