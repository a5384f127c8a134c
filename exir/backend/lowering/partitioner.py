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

from executorch.exir.backend._grouping import grouped_partitions, need_each_other
from executorch.exir.backend._partitions import TAG
from executorch.exir.backend.compile_spec_schema import CompileSpec
from executorch.exir.backend.lowering.constants import Constants
from executorch.exir.backend.lowering.op_table import OpTable
from executorch.exir.backend.lowering.quantized_steps import copy_for_each_reader
from executorch.exir.backend.lowering.quantized_values import (
    check_quantized_values,
    warn_of_missing_ranges,
)
from executorch.exir.backend.lowering.steps import Step, has_limits, nodes_of
from executorch.exir.backend.lowering.user_lists import UserLists
from executorch.exir.backend.partitioner import DelegationSpec, Partitioner, PartitionResult
from executorch.exir.backend.utils import WhyNoPartition, tag_constant_data
from executorch.exir.delegate import executorch_call_delegate
from executorch.exir.error import ExportError, ExportErrorType
from executorch.exir.graph_facts import torch_op
from executorch.exir.verification.verifier import is_edge_target

Groups = list[list[Node]]  # calls, each with what must be in its delegate


class TablePartitioner(Partitioner):
    """A backend gives its id and its table; the log of its module has, at level DEBUG, the reason for each call that is
    not delegated. `per_op_mode`: one delegate per call; `user_lists`: what a user keeps undelegated. Backends that know
    more override the hooks."""

    table: ClassVar[OpTable[Any]]
    backend_id: ClassVar[str]
    tag: ClassVar[str] = "tag"  # of its delegates, with their numbers
    joins_all: ClassVar[bool] = False  # also pieces that share no value

    def __init__(
        self,
        compile_specs: Sequence[CompileSpec] = (),
        per_op_mode: bool = False,
        user_lists: UserLists | None = None,
    ) -> None:
        super().__init__()
        self.delegation_spec = DelegationSpec(self.backend_id, list(compile_specs))
        self.per_op_mode = per_op_mode
        self.user_lists = user_lists or UserLists()
        self.logger = logging.getLogger(type(self).__module__)
        self._undelegated: dict[Node, str] = {}

    def ops_to_not_decompose(
        self, ep: ExportedProgram
    ) -> tuple[list[torch._ops.OpOverload], Callable[[Node], bool] | None]:
        return self.table.preserved(), None

    def prepare(self, exported_program: ExportedProgram) -> None:
        """What is computed ahead for calls of several steps is computed for each, where no delegate can have all."""
        constants = self.analyze(exported_program)
        calls = exported_program.graph.nodes
        if any(constants.is_computed(node) and len(node.users) > 1 for node in calls):
            groups = self.group_calls(exported_program, constants)
            if need_each_other(exported_program.graph, groups):
                copy_for_each_reader(exported_program, constants.is_computed)

    def partition(self, exported_program: ExportedProgram) -> PartitionResult:
        """Scales and zero points that mean nothing are an error, those that nothing was seen for a warning."""
        check_quantized_values(exported_program, Constants(exported_program))
        warn_of_missing_ranges(exported_program)
        generate = self.generate_per_op_partitions if self.per_op_mode else self.generate_partitions
        tags = {}
        for number, partition in enumerate(generate(exported_program)):
            tag = f"{self.tag}{number}"
            tags[tag] = self.delegation_spec
            for node in partition.nodes:
                node.meta[TAG] = tag
        self.tag_data(exported_program)
        return PartitionResult(exported_program, tags)

    def generate_partitions(self, ep: ExportedProgram) -> list[Partition]:
        """The largest pieces that run in one step each, but for what is not delegated."""
        self._undelegated = {}
        constants = self.analyze(ep)
        groups = self.group_calls(ep, constants)
        split = self.split_at(ep, groups, constants)
        for node, reason in split.items():
            self.reject([node], reason)

        def joined(groups: Groups) -> list[list[Node]]:
            found = grouped_partitions(ep.graph, groups, self.joins_all)
            trimmed = (self.trim_boundary(list(each.nodes)) for each in found)
            pieces = self._accepted(trimmed, self.why_not_worthwhile)
            return self._accepted(pieces, lambda nodes: self.why_slower(nodes, constants))

        exclusive = [group for group in groups if self.is_exclusive(group)]
        pieces = joined([each for each in groups if each[0] not in split and each not in exclusive])
        pieces += self._accepted(exclusive, self.why_not_worthwhile)
        return _numbered(self.compile_check(ep, pieces, joined))

    def generate_per_op_partitions(self, ep: ExportedProgram) -> list[Partition]:
        """One for each call."""
        self._undelegated = {}
        groups = self._accepted(self.group_calls(ep, self.analyze(ep)), self.why_not_worthwhile)
        return _numbered(self.compile_check(ep, groups, lambda rest: rest))

    def why_not_delegated(self, program: Any) -> dict[Node, str]:
        """Calls that partition() would leave, and why. Nothing is tagged. `program`: an edge program, or the manager of
        one; ExportError for anything else."""
        program = _edge_program(program)
        inside = {node for each in self.generate_partitions(program) for node in each.nodes}
        undelegated = [
            node for node in _calls(program, self.analyze(program)) if node not in inside
        ]
        return {node: self._undelegated.get(node) or self.why_trimmed(node) for node in undelegated}

    # Hooks, in the order in which they are asked: docs/design/006-lowering-kit.md has the picture.

    def analyze(self, program: ExportedProgram) -> Constants:
        """What is known before the calls are asked about: the data; what else a backend needs it keeps itself."""
        return Constants(program)

    def claim(self, node: Node, program: ExportedProgram, constants: Constants) -> list[Node] | str:
        """A call that is in no pattern, with what must be in its delegate, or the reason why it is not delegated."""
        reason = self.table.why_not(node, constants)
        if reason:
            return reason
        items = node.users if isinstance(node.meta["val"], tuple | list) else ()
        return [*self.calls_of(self.table.step_at(node)), *items]

    def calls_of(self, step: Step) -> list[Node]:
        """Calls that a step is of, and those that are in a delegate for it alone."""
        return nodes_of(step)

    def needed_by(self, node: Node, constants: Constants) -> list[Node]:
        """Calls that must be in the delegate of `node` since it reads them, each behind what it reads itself."""
        return constants.computed_inputs(node)

    def group_calls(self, program: ExportedProgram, constants: Constants) -> Groups:
        """Calls that go into a delegate together or not at all: patterns, and what is claimed of the rest."""
        groups = [self.calls_of(step) for step in self.table.patterns(program.graph, constants)]
        groups = [group for group in groups if not self._why_blocked(group)]
        of_patterns = {node for group in groups for node in group}
        reasons: dict[Node, str] = {}
        for node in _calls(program, constants):
            if node not in of_patterns:
                claimed = self.user_lists.why_not(node) or self.claim(node, program, constants)
                if not isinstance(claimed, str):
                    claimed = self._without_blocked_tail(claimed)
                    claimed = self._why_blocked(claimed) or claimed
                if isinstance(claimed, str):
                    reasons[node] = claimed
                else:
                    groups.append(claimed)
        groups = [self._with_needed(group, constants) for group in groups]
        inside = {node for group in groups for node in group}
        for node, reason in reasons.items():
            if node not in inside:
                self.reject([node], reason)
        return groups

    def split_at(
        self, program: ExportedProgram, groups: Groups, constants: Constants
    ) -> dict[Node, str]:
        """Calls of one-node groups that are left although they stand between others, and why."""
        return {}

    def is_exclusive(self, group: list[Node]) -> bool:
        """Whether these calls must be a delegate of their own."""
        return False

    def trim_boundary(self, nodes: list[Node]) -> list[Node]:
        """A piece without what is better left at its ends."""
        return nodes

    def why_trimmed(self, node: Node) -> str:
        """Why `trim_boundary` takes a call off; empty for any other."""
        return ""

    def why_not_worthwhile(self, nodes: list[Node]) -> str:
        """Why a piece computes nothing that is worth a delegate; empty when it does."""
        return ""

    def why_slower(self, nodes: list[Node], constants: Constants) -> str:
        """Why a joined piece is slower inside; empty when it is not."""
        return ""

    def compile_check(
        self,
        program: ExportedProgram,
        pieces: list[list[Node]],
        join: Callable[[Groups], list[list[Node]]],
    ) -> list[list[Node]]:
        """Pieces that what compiles them takes, too; `join` makes pieces of the groups that are left of one."""
        return pieces

    def reject(self, nodes: Iterable[Node], reason: str) -> None:
        """Notes that calls are not delegated. Called once for each call that is found so, whoever found it."""
        report = WhyNoPartition(self.logger)
        for node in nodes:
            report(node, reason)
            self._undelegated[node] = reason

    def tag_data(self, program: ExportedProgram) -> None:
        """Tags the data that delegates own."""
        tag_constant_data(program)

    def _accepted(
        self, pieces: Iterable[list[Node]], why_not: Callable[[list[Node]], str]
    ) -> list[list[Node]]:
        accepted = []
        for nodes in filter(None, pieces):
            reason = why_not(nodes)
            if reason:
                self.reject(nodes, reason)
            else:
                accepted.append(nodes)
        return accepted

    def _with_needed(self, group: list[Node], constants: Constants) -> list[Node]:
        found = [each for node in group for each in (*self.needed_by(node, constants), node)]
        return list(dict.fromkeys(found))

    def _without_blocked_tail(self, group: list[Node]) -> list[Node]:
        """A call runs without what only limits its result."""
        while has_limits(group[-1]) and self.user_lists.why_blocked(group[-1]):
            group = group[:-1]
        return group

    def _why_blocked(self, group: list[Node]) -> str:
        for node in group:
            if reason := self.user_lists.why_blocked(node):
                return f"{node.name} must run with it, and {reason}"
        return ""


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
