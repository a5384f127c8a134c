# SPDX-License-Identifier: BSD-3-Clause
# compat
"""Support checks that keep chosen nodes out of a partition, and remember which they were."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import torch
from torch.fx import Node
from torch.fx.passes.operator_support import OperatorSupportBase

from executorch.exir.graph_facts import torch_op


class DontSupportBase(OperatorSupportBase):
    """Everything is supported but what a subclass rejects. Combine with `chain`."""

    def __init__(self) -> None:
        self._rejected: list[Node] = []

    def reject_node(self, node: Node) -> None:
        if node not in self._rejected:
            self._rejected.append(node)

    def has_rejected_node(self) -> bool:
        return bool(self._rejected)

    def num_rejected(self) -> int:
        return len(self._rejected)

    def rejected_nodes(self) -> list[Node]:
        return list(self._rejected)

    def _decide(self, node: Node, reject: bool) -> bool:
        if reject:
            self.reject_node(node)
        return not reject


def _matches(wanted: Any, found: str, exact: bool) -> bool:
    return found == str(wanted) if exact else str(wanted) in found


class DontPartition(DontSupportBase):
    """Rejects calls of the targets: operators, or their names; with exact=False, parts of names."""

    def __init__(self, *targets: Any, exact: bool = True) -> None:
        super().__init__()
        self._targets, self._exact = targets, exact

    def is_node_supported(self, submodules: Mapping[str, torch.nn.Module], node: Node) -> bool:
        names = {str(node.target), str(torch_op(node.target))}
        reject = any(
            node.target is wanted
            or any(_matches(torch_op(wanted) or wanted, name, self._exact) for name in names)
            for wanted in self._targets
        )
        return self._decide(node, reject)


class DontPartitionName(DontSupportBase):
    """Rejects nodes by their names in the graph."""

    def __init__(self, *targets: str, exact: bool = True) -> None:
        super().__init__()
        self._targets, self._exact = targets, exact

    def is_node_supported(self, submodules: Mapping[str, torch.nn.Module], node: Node) -> bool:
        reject = any(_matches(wanted, node.name, self._exact) for wanted in self._targets)
        return self._decide(node, reject)


class DontPartitionModule(DontSupportBase):
    """Rejects what comes from modules of a class (`module_name`) or of a place in the model (`instance_name`)."""

    def __init__(
        self,
        *,
        module_name: str | None = None,
        instance_name: str | None = None,
        exact: bool = True,
    ) -> None:
        super().__init__()
        self._module_name, self._instance_name, self._exact = module_name, instance_name, exact

    def is_node_supported(self, submodules: Mapping[str, torch.nn.Module], node: Node) -> bool:
        return self._decide(node, any(self._is_meant(*entry) for entry in _modules(node)))

    def _is_meant(self, instance: str, module: str) -> bool:
        checks = [(self._module_name, module), (self._instance_name, instance)]
        wanted = [(want, found) for want, found in checks if want is not None]
        return bool(wanted) and all(_matches(want, found, self._exact) for want, found in wanted)


def _modules(node: Node) -> list[tuple[str, str]]:
    """(path in the model, class name) of the modules around the node."""
    stack = node.meta.get("nn_module_stack") or {}
    return [
        (path, (kind if isinstance(kind, str) else kind.__qualname__).rsplit(".", 1)[-1])
        for path, kind in stack.values()
    ]
