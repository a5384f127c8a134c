# SPDX-License-Identifier: BSD-3-Clause
"""A partitioner made of rows: one configuration per operator says which nodes go with a node, and under which
conditions. Nodes of groups that touch become one delegate."""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Callable, Iterable
from typing import Any

import torch
from torch.export import ExportedProgram
from torch.fx import Node
from torch.fx.passes.infra.partitioner import Partition

from executorch.exir.backend._grouping import grouped_partitions
from executorch.exir.backend.partitioner import DelegationSpec, Partitioner, PartitionResult
from executorch.exir.backend.utils import tag_constant_data, tag_mutated_buffer
from executorch.exir.graph_facts import op_name


def format_target_name(target_name: str) -> str:
    """`linear.default` for `aten.linear.default`: the form of PartitionerConfig.target_name."""
    return target_name.partition(".")[2] if target_name.count(".") > 1 else target_name


def _target_of(config: PartitionerConfig) -> str:
    """`linear` stands for its default overload."""
    name = format_target_name(config.target_name)
    return name if "." in name else f"{name}.default"


class DSJ:
    """Disjoint sets of things that were joined two by two."""

    def __init__(self) -> None:
        self.parent: dict[Any, Any] = {}

    def find(self, x: Any) -> Any:
        """The one that stands for the set of `x`, which is a set of its own when nothing was said of it."""
        self.parent.setdefault(x, x)
        while self.parent[x] != x:
            self.parent[x] = self.parent[self.parent[x]]
            x = self.parent[x]
        return x

    def union(self, x: Any, y: Any) -> None:
        self.parent[self.find(x)] = self.find(y)

    def contains(self, x: Any) -> bool:
        return x in self.parent

    def gen_groups(self) -> list[list[Any]]:
        groups: dict[Any, list[Any]] = {}
        for x in sorted(self.parent):
            groups.setdefault(self.find(x), []).append(x)
        return list(groups.values())


class PartitionerConfig(ABC):
    """The row of one operator."""

    target_name: str  # such as "linear.default"

    @abstractmethod
    def check_constraints(self, node: Node, ep: ExportedProgram) -> bool:
        """Whether the backend takes this node."""

    @abstractmethod
    def get_partition(self, node: Node, ep: ExportedProgram) -> list[Node]:
        """The nodes that go together with it, itself included; empty for none."""

    def get_original_aten(self) -> torch._ops.OpOverload | None:
        """The operator that must reach this row whole; None when its parts will do."""
        return None


class ConfigerationBasedPartitioner(Partitioner):
    """Spelled as users spell it."""

    def __init__(
        self, delegation_spec: DelegationSpec, partitioner_configs: Iterable[PartitionerConfig]
    ) -> None:
        super().__init__()
        self.delegation_spec = delegation_spec
        self.target_partitioner_configs: dict[str, PartitionerConfig] = {}
        for config in partitioner_configs:
            target = _target_of(config)
            if target in self.target_partitioner_configs:
                raise RuntimeError(
                    f"two configurations for {target}: {self.target_partitioner_configs[target]} and {config}; "
                    "give one"
                )
            self.target_partitioner_configs[target] = config

    def ops_to_not_decompose(
        self, ep: ExportedProgram
    ) -> tuple[list[torch._ops.OpOverload], Callable[[Node], bool] | None]:
        wanted = {
            op: config
            for config in self.target_partitioner_configs.values()
            if (op := config.get_original_aten()) is not None
        }

        def accepts(node: Node) -> bool:
            config = wanted.get(node.target)
            return config is not None and config.check_constraints(node, ep)

        return list(wanted), accepts

    def get_matched_nodes_from_configs(self, ep: ExportedProgram) -> list[list[Node]]:
        """One list per node that a row takes."""
        matched = []
        for node in ep.graph.nodes:
            config = self._config_of(node)
            if config is not None and config.check_constraints(node, ep):
                group = config.get_partition(node, ep)
                if group:
                    matched.append(group)
        return matched

    def generate_partitions(self, ep: ExportedProgram) -> list[Partition]:
        return grouped_partitions(ep.graph, self.get_matched_nodes_from_configs(ep))

    def partition(self, exported_program: ExportedProgram) -> PartitionResult:
        tags = {}
        for partition in self.generate_partitions(exported_program):
            tag = f"tag{partition.id}"
            tags[tag] = self.delegation_spec
            for node in partition.nodes:
                if node.op == "call_function":
                    node.meta["delegation_tag"] = tag
        tag_constant_data(exported_program)
        tag_mutated_buffer(exported_program)
        return PartitionResult(exported_program, tags)

    def _config_of(self, node: Node) -> PartitionerConfig | None:
        return self.target_partitioner_configs.get(format_target_name(op_name(node)))
