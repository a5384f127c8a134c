# SPDX-License-Identifier: BSD-3-Clause
"""`ExternalPartitioner`: pieces that a table takes and another maker's compiler compiles. What the compiler refuses
goes back, with its reason, and what is left of the piece is tried again: an export does not fail for it."""

from __future__ import annotations

from collections.abc import Callable
from typing import ClassVar

from torch.export import ExportedProgram
from torch.fx import Node

from executorch.exir.backend._extract import extract
from executorch.exir.backend._partitions import Partition, written_buffers
from executorch.exir.backend.lowering.external.compiler import (
    ExternalCompiler,
    Options,
    Refused,
    options_of,
)
from executorch.exir.backend.lowering.op_table import Constants
from executorch.exir.backend.lowering.partitioner import Groups, TablePartitioner
from executorch.exir.graph_facts import data_specs

SEARCHES = 8  # of calls that a compiler refuses and does not name, in one program


class ExternalPartitioner(TablePartitioner):
    """A backend gives its compiler, too. `asks_compiler`: False where rows know enough: without the compiler nobody is
    asked then, and what is partitioned may be looked at."""

    compiler: ClassVar[ExternalCompiler]
    asks_compiler: ClassVar[bool] = True

    def options(self) -> Options:
        """What the compiler is told."""
        return options_of(self.delegation_spec.compile_specs)

    def compile_check(
        self,
        program: ExportedProgram,
        pieces: list[list[Node]],
        join: Callable[[Groups], list[list[Node]]],
    ) -> list[list[Node]]:
        if not self.asks_compiler and self.compiler.why_missing():
            return pieces
        self.compiler.require()
        waiting, compiled, searches = list(pieces), [], 0
        while waiting:
            nodes = waiting.pop(0)
            refused = self._refusal(program, nodes)
            if refused is None:
                compiled.append(nodes)
                continue
            named = {node for node in nodes if node.name in refused.nodes}
            if not named and not refused.is_final and searches < SEARCHES:
                searches += 1
                refused, named = self._found(program, nodes, refused)
            groups = self._groups_in(nodes)
            out = [group for group in groups if named.intersection(group)] or groups
            for group in out:
                self.reject(group, refused.reason)
            gone = {node for group in out for node in group}
            waiting += join([group for group in groups if not gone.intersection(group)])
        place = {node: index for index, node in enumerate(program.graph.nodes)}
        return sorted(compiled, key=lambda nodes: place[nodes[0]])

    def _refusal(self, program: ExportedProgram, nodes: list[Node]) -> Refused | None:
        piece = self._program_of(program, nodes)
        calls = [node for node in nodes if node.op == "call_function"]
        return self.compiler.refusal(piece, self.options(), calls)

    def _found(
        self, program: ExportedProgram, nodes: list[Node], refused: Refused
    ) -> tuple[Refused, set[Node]]:
        """The last group of the shortest beginning that is refused, found by halves."""
        groups = self._groups_in(nodes)
        taken, wrong = 0, len(groups)  # so many groups are taken, so many are not
        while wrong - taken > 1:
            middle = (taken + wrong) // 2
            found = self._refusal(program, [n for group in groups[:middle] for n in group])
            if found is None:
                taken = middle
            else:
                wrong, refused = middle, found
        return refused, set(groups[wrong - 1])

    def _program_of(self, program: ExportedProgram, nodes: list[Node]) -> ExportedProgram:
        """What preprocess is given of these nodes."""
        inside = set(nodes)
        specs, written = data_specs(program), written_buffers(program)
        owned = [node for node in specs if self.owns(program, node, inside)]
        in_order = [node for node in program.graph.nodes if node in inside]
        module = program.graph_module
        piece = Partition("", self.delegation_spec, module, 0, in_order, owned)
        targets = {node: specs[node].target for node in owned}
        piece.written = {
            node: written[target] for node, target in targets.items() if target in written
        }
        return extract(program, piece).program

    def owns(self, program: ExportedProgram, data: Node, inside: set[Node]) -> bool:
        """Whether a delegate of these nodes has the data as its own, as `tag_data` tags it."""
        is_written = data_specs(program)[data].target in written_buffers(program)
        return not is_written and not inside.isdisjoint(data.users)

    def _groups_in(self, nodes: list[Node]) -> Groups:
        found = {id(self._group_of[node]): self._group_of[node] for node in nodes}
        return list(found.values())

    def group_calls(self, program: ExportedProgram, constants: Constants) -> Groups:
        groups = super().group_calls(program, constants)
        self._group_of = {node: group for group in groups for node in group}
        return groups
