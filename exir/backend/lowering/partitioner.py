# SPDX-License-Identifier: BSD-3-Clause
"""`TablePartitioner`: everything that a backend's table takes, in the largest pieces that can run in one step."""

from __future__ import annotations

import logging
import operator
from collections.abc import Callable, Iterable, Sequence
from typing import Any, ClassVar

import torch
from torch.export import ExportedProgram
from torch.fx import Node
from torch.fx.passes.infra.partitioner import Partition

from executorch.exir.backend._grouping import grouped_partitions
from executorch.exir.backend.compile_spec_schema import CompileSpec
from executorch.exir.backend.lowering.constants import Constants
from executorch.exir.backend.lowering.op_table import OpTable
from executorch.exir.backend.lowering.quantized_values import (
    check_quantized_values,
    warn_of_missing_ranges,
)
from executorch.exir.backend.lowering.steps import nodes_of
from executorch.exir.backend.partitioner import DelegationSpec, Partitioner, PartitionResult
from executorch.exir.backend.utils import WhyNoPartition, tag_constant_data
from executorch.exir.delegate import executorch_call_delegate
from executorch.exir.error import ExportError, ExportErrorType
from executorch.exir.graph_facts import torch_op
from executorch.exir.verification.verifier import is_edge_target

Groups = list[list[Node]]  # calls, each with what must be in its delegate


class TablePartitioner(Partitioner):
    """A backend gives its id and its table; the log of its module has, at level DEBUG, the reason for each call that is
    not delegated. `per_op_mode`: one delegate per call. Backends that know more override the methods from `look_at` on.
    """

    table: ClassVar[OpTable[Any]]
    backend_id: ClassVar[str]
    joins_all: ClassVar[bool] = False  # also pieces that share no value

    def __init__(
        self, compile_specs: Sequence[CompileSpec] = (), per_op_mode: bool = False
    ) -> None:
        super().__init__()
        self.delegation_spec = DelegationSpec(self.backend_id, list(compile_specs))
        self.per_op_mode = per_op_mode
        self.logger = logging.getLogger(type(self).__module__)
        self._left: dict[Node, str] = {}

    def ops_to_not_decompose(
        self, ep: ExportedProgram
    ) -> tuple[list[torch._ops.OpOverload], Callable[[Node], bool] | None]:
        return self.table.preserved(), None

    def partition(self, exported_program: ExportedProgram) -> PartitionResult:
        """Scales and zero points that mean nothing are an error, those that nothing was seen for a warning."""
        check_quantized_values(exported_program, Constants(exported_program))
        warn_of_missing_ranges(exported_program)
        generate = self.generate_per_op_partitions if self.per_op_mode else self.generate_partitions
        tags = {}
        for number, partition in enumerate(generate(exported_program)):
            tag = f"tag{number}"
            tags[tag] = self.delegation_spec
            for node in partition.nodes:
                node.meta["delegation_tag"] = tag
        self.tag_data(exported_program)
        return PartitionResult(exported_program, tags)

    def generate_partitions(self, ep: ExportedProgram) -> list[Partition]:
        """The largest pieces that run in one step each, but for what is not delegated."""
        self._left = {}
        constants = self.look_at(ep)
        groups = self._groups(ep, constants)
        cut = self.cut(ep, groups, constants)
        for node, reason in cut.items():
            self._leave([node], reason)

        def joined(groups: Groups) -> list[list[Node]]:
            found = grouped_partitions(ep.graph, groups, self.joins_all)
            pieces = self._kept((self.trimmed(list(each.nodes)) for each in found), self.why_leave)
            return self._kept(pieces, lambda nodes: self.why_slower(nodes, constants))

        alone = [group for group in groups if self.is_alone(group)]
        pieces = joined([group for group in groups if group[0] not in cut and group not in alone])
        pieces += self._kept(alone, self.why_leave)
        return _numbered(self.accepted(ep, pieces, joined))

    def generate_per_op_partitions(self, ep: ExportedProgram) -> list[Partition]:
        """One for each call."""
        self._left = {}
        groups = self._groups(ep, self.look_at(ep))
        return _numbered(self.accepted(ep, self._kept(groups, self.why_leave), lambda rest: rest))

    def why_not_delegated(self, program: Any) -> dict[Node, str]:
        """Calls that partition() would leave, and why. Nothing is tagged. `program`: an edge program, or the manager of
        one; ExportError for anything else."""
        program = _edge_program(program)
        inside = {node for each in self.generate_partitions(program) for node in each.nodes}
        constants = self.look_at(program)
        reasons: dict[Node, str] = {}
        for node in _calls(program, constants):
            if node not in inside:
                claimed = self.claim(node, program, constants)
                reason = claimed if isinstance(claimed, str) else self.why_trimmed(node)
                reasons[node] = self._left.get(node) or reason
        return reasons

    # What a backend may say of its own.

    def look_at(self, program: ExportedProgram) -> Constants:
        """What is known before the calls are asked about: the data; what else a backend needs it keeps itself."""
        return Constants(program)

    def claim(self, node: Node, program: ExportedProgram, constants: Constants) -> list[Node] | str:
        """A call that is in no pattern, with what must be in its delegate, or the reason why it is not delegated."""
        reason = self.table.why_not(node, constants)
        if reason:
            return reason
        items = node.users if isinstance(node.meta["val"], tuple | list) else ()
        return list(dict.fromkeys((*nodes_of(self.table.step_at(node)), *items)))

    def cut(
        self, program: ExportedProgram, groups: Groups, constants: Constants
    ) -> dict[Node, str]:
        """Calls of one-node groups that are left although they stand between others, and why."""
        return {}

    def is_alone(self, group: list[Node]) -> bool:
        """Whether these calls must be a delegate of their own."""
        return False

    def tag_data(self, program: ExportedProgram) -> None:
        """Tags the data that delegates own."""
        tag_constant_data(program)

    def trimmed(self, nodes: list[Node]) -> list[Node]:
        """A piece without what is better left at its ends."""
        return nodes

    def why_trimmed(self, node: Node) -> str:
        """Why `trimmed` takes a call off; empty for any other."""
        return ""

    def why_leave(self, nodes: list[Node]) -> str:
        """Why a piece computes nothing that is worth a delegate; empty when it does."""
        return ""

    def why_slower(self, nodes: list[Node], constants: Constants) -> str:
        """Why a joined piece is slower inside; empty when it is not."""
        return ""

    def accepted(
        self,
        program: ExportedProgram,
        pieces: list[list[Node]],
        again: Callable[[Groups], list[list[Node]]],
    ) -> list[list[Node]]:
        """Pieces that what compiles them takes, too; `again` joins what is left of one."""
        return pieces

    def _groups(self, program: ExportedProgram, constants: Constants) -> Groups:
        groups = [nodes_of(step) for step in self.table.patterns(program.graph, constants)]
        of_patterns = {node for group in groups for node in group}
        reasons: dict[Node, str] = {}
        for node in _calls(program, constants):
            if node in of_patterns:
                continue
            claimed = self.claim(node, program, constants)
            if isinstance(claimed, str):
                reasons[node] = claimed
            else:
                groups.append(claimed)
        report = WhyNoPartition(self.logger)
        inside = {node for group in groups for node in group}
        for node, reason in reasons.items():
            if node not in inside:
                report(node, reason)
        return groups

    def _kept(
        self, pieces: Iterable[list[Node]], why_not: Callable[[list[Node]], str]
    ) -> list[list[Node]]:
        kept = []
        for nodes in filter(None, pieces):
            reason = why_not(nodes)
            if reason:
                self._leave(nodes, reason)
            else:
                kept.append(nodes)
        return kept

    def _leave(self, nodes: Iterable[Node], reason: str) -> None:
        report = WhyNoPartition(self.logger)
        for node in nodes:
            report(node, reason)
            self._left[node] = reason


def _edge_program(program: Any) -> ExportedProgram:
    """Rows are asked about calls of the edge dialect."""
    found = program.exported_program() if hasattr(program, "exported_program") else program
    if not isinstance(found, ExportedProgram):
        kind = type(found).__name__
    elif any(
        torch_op(node.target) and not is_edge_target(node.target) for node in found.graph.nodes
    ):
        kind = "calls of another dialect"
    else:
        return found
    raise ExportError(
        ExportErrorType.INVALID_INPUT_TYPE,
        f"expected an edge program, to_edge(torch.export.export(model, inputs)).exported_program(), found {kind}",
    )


def _calls(program: ExportedProgram, constants: Constants) -> list[Node]:
    """Those that compute while the program runs; items go with the call that gives them."""
    return [
        node
        for node in program.graph.nodes
        if node.op == "call_function"
        and node.target is not operator.getitem
        and node.target is not executorch_call_delegate
        and not constants.is_computed(node)
    ]


def _numbered(pieces: list[list[Node]]) -> list[Partition]:
    return [Partition(number, nodes) for number, nodes in enumerate(pieces)]
