# SPDX-License-Identifier: BSD-3-Clause
"""How many calls of a graph were delegated, by operator."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from typing import TYPE_CHECKING

from torch.fx import GraphModule, Node

from executorch.exir.delegate import executorch_call_delegate
from executorch.exir.graph_facts import torch_op
from executorch.exir.graph_module import get_control_flow_submodules
from executorch.exir.lowered_backend_module import get_lowered_submodules

if TYPE_CHECKING:
    import pandas

_COLUMNS = (
    "op_type",
    "occurrences_in_delegated_graphs",
    "occurrences_in_non_delegated_graphs",
)


@dataclass
class DelegationBreakdown:
    """Calls of one operator."""

    op_type: str = ""
    delegated: int = 0
    non_delegated: int = 0


@dataclass
class DelegationInfo:
    """Counts of a graph with its branches. Items of several results count as calls, delegate calls do not."""

    num_delegated_subgraphs: int
    num_delegated_nodes: int
    num_non_delegated_nodes: int
    delegation_by_operator: dict[str, DelegationBreakdown]

    def get_summary(self) -> str:
        return (
            f"Total delegated subgraphs: {self.num_delegated_subgraphs}\n"
            f"Number of delegated nodes: {self.num_delegated_nodes}\n"
            f"Number of non-delegated nodes: {self.num_non_delegated_nodes}\n"
        )

    def rows(self) -> list[tuple[str, int, int]]:
        """(operator, delegated, not delegated), by name, and their sum as the last row."""
        each = sorted(self.delegation_by_operator.values(), key=lambda row: row.op_type)
        counts = [(row.op_type, row.delegated, row.non_delegated) for row in each]
        total = ("Total", self.num_delegated_nodes, self.num_non_delegated_nodes)
        return [*counts, total]

    def get_operator_delegation_dataframe(self) -> pandas.DataFrame:
        """The rows as a table; needs pandas."""
        try:
            import pandas
        except ImportError as missing:
            raise ImportError(
                "get_operator_delegation_dataframe needs pandas: pip install pandas; rows() has the same numbers"
            ) from missing
        return pandas.DataFrame(self.rows(), columns=list(_COLUMNS))


def get_delegation_info(graph_module: GraphModule) -> DelegationInfo:
    info = DelegationInfo(0, 0, 0, {})
    for node, delegated in _calls(graph_module, False, info):
        name = _op_type(node)
        row = info.delegation_by_operator.setdefault(name, DelegationBreakdown(name))
        if delegated:
            row.delegated += 1
            info.num_delegated_nodes += 1
        else:
            row.non_delegated += 1
            info.num_non_delegated_nodes += 1
    return info


def print_delegation_info(graph_module: GraphModule) -> None:
    """The summary and the rows as text."""
    info = get_delegation_info(graph_module)
    print(info.get_summary())
    width = max(len(name) for name, *_ in info.rows())
    print(f"{'op_type':<{width}}  delegated  non-delegated")
    for name, delegated, non_delegated in info.rows():
        print(f"{name:<{width}}  {delegated:>9}  {non_delegated:>13}")


def _calls(
    module: GraphModule, delegated: bool, info: DelegationInfo
) -> Iterator[tuple[Node, bool]]:
    for node in module.graph.nodes:
        if node.op == "call_function" and node.target is not executorch_call_delegate:
            yield node, delegated
    for _, branch, _ in get_control_flow_submodules(module):
        yield from _calls(branch, delegated, info)
    for _, lowered, _ in get_lowered_submodules(module):
        info.num_delegated_subgraphs += not delegated
        yield from _calls(lowered.original_module.graph_module, True, info)


def _op_type(node: Node) -> str:
    op = torch_op(node.target)
    name = str(op) if op is not None else getattr(node.target, "__name__", str(node.target))
    return name.replace(".", "_").lower()
