# SPDX-License-Identifier: BSD-3-Clause
"""Reasons why nodes were not claimed, collected while a partitioner asks."""

from __future__ import annotations

import logging
from collections.abc import Mapping

import torch
from torch.fx import Node
from torch.fx.passes.operator_support import OperatorSupportBase


class WhyNoPartition:
    """Logs one line per refused node."""

    def __init__(self, logger: logging.Logger) -> None:
        self.logger = logger
        self._last = "no node was refused yet"

    def __call__(self, node: Node, reason: str) -> None:
        self._last = f"Node {node.name} was not partitioned because {reason}"
        self.logger.debug("%s (%s)", str(self), node.target)

    def __str__(self) -> str:
        return f"WhyNoPartition: {self._last}."


class WhyNoPartitionReporter:
    """Keeps every reason; `wrap_check` makes a support check report here."""

    def __init__(self) -> None:
        self._reasons: dict[Node, list[str]] = {}

    def report_reject(self, node: Node, reason: str) -> None:
        reasons = self._reasons.setdefault(node, [])
        if reason not in reasons:
            reasons.append(reason)

    def wrap_check(
        self, operator_support: OperatorSupportBase, message: str
    ) -> OperatorSupportBase:
        return ReportRejected(operator_support, self, message)

    def get_table_report(self) -> str:
        """One line per node: name, operator, what it was in the model, reasons."""
        if not self._reasons:
            return "No nodes rejected."
        rows = [("Node name", "Target", "Torch func", "Reason")]
        for node, why in self._reasons.items():
            target = getattr(node.target, "__name__", str(node.target))
            rows.append((node.name, target, str(node.meta.get("torch_fn", "")), "; ".join(why)))
        widths = [max(len(row[column]) for row in rows) for column in range(3)]
        return "\n".join(
            "  ".join([*(cell.ljust(width) for cell, width in zip(row, widths)), row[3]])
            for row in rows
        )


class ReportRejected(OperatorSupportBase):
    """A check that reports the nodes it refuses."""

    def __init__(
        self,
        operator_support: OperatorSupportBase,
        reporter: WhyNoPartitionReporter,
        message: str,
    ) -> None:
        self._support = operator_support
        self._reporter = reporter
        self._message = message

    def is_node_supported(self, submodules: Mapping[str, torch.nn.Module], node: Node) -> bool:
        supported = self._support.is_node_supported(submodules, node)
        if not supported and node.op == "call_function":
            self._reporter.report_reject(node, self._message)
        return supported
