# SPDX-License-Identifier: BSD-3-Clause
"""`AotiPartitioner`: everything that no delegate has yet, in the largest pieces that can run in one step. It stands
last in a list of partitioners."""

from __future__ import annotations

import operator
from collections.abc import Callable, Sequence

import torch
from torch.export import ExportedProgram
from torch.fx import Node

from executorch.exir.backend._grouping import grouped_partitions
from executorch.exir.backend.compile_spec_schema import CompileSpec
from executorch.exir.backend.partitioner import DelegationSpec, Partitioner, PartitionResult
from executorch.exir.backend.utils import tag_constant_data, tag_mutated_buffer
from executorch.exir.delegate import executorch_call_delegate
from executorch.exir.graph_facts import called_op, data_specs

_TAG = "delegation_tag"


class AotiPartitioner(Partitioner):
    """Programs are compiled from PyTorch's operators as they are: nothing is decomposed."""

    def __init__(self, backend_name: str, compile_spec: Sequence[CompileSpec]) -> None:
        super().__init__()
        self.delegation_spec = DelegationSpec(backend_name, list(compile_spec))

    def ops_to_not_decompose(
        self, ep: ExportedProgram
    ) -> tuple[list[torch._ops.OpOverload], Callable[[Node], bool] | None]:
        found = (called_op(node) for node in ep.graph.nodes)
        return list(dict.fromkeys(each for each in found if each is not None)), None

    def why_not(self, node: Node) -> str:
        """Why a call is left to other kernels; empty for one that is compiled."""
        return ""

    def why_not_delegated(self, program: ExportedProgram) -> dict[Node, str]:
        """Calls that partition() would leave, and why."""
        asked = {node: self.why_not(node) for node in program.graph.nodes if _is_free(node)}
        left = {node: reason for node, reason in asked.items() if reason}
        for node in program.graph.nodes:  # results of what is left are left with it
            if node.target is operator.getitem and node.args[0] in left:
                left[node] = left[node.args[0]]
        return left

    def partition(self, exported_program: ExportedProgram) -> PartitionResult:
        graph = exported_program.graph
        left = self.why_not_delegated(exported_program)
        groups = [
            [node, *_branches(node)] for node in graph.nodes if _is_free(node) and node not in left
        ]
        tags = {}
        for piece in grouped_partitions(graph, groups, joins_all=True):
            tag = f"aoti_{piece.id}"
            tags[tag] = self.delegation_spec
            for node in piece.nodes:
                node.meta[_TAG] = tag
        tag_constant_data(exported_program)
        tag_mutated_buffer(exported_program)
        for node in data_specs(exported_program) if tags else ():
            if not node.users:
                node.meta[_TAG] = next(iter(tags))
        return PartitionResult(exported_program, tags)


def _is_free(node: Node) -> bool:
    return node.op == "call_function" and node.target is not executorch_call_delegate


def _branches(node: Node) -> list[Node]:
    """The graphs that a call of control flow runs go with it."""
    return [each for each in node.all_input_nodes if each.op == "get_attr"]
