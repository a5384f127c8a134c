# SPDX-License-Identifier: BSD-3-Clause
"""Passes that were made with a program, `P(edge.exported_program())`: what they add to its signature and data is meant
for the graph that they are run on, which an earlier pass may have written anew."""

from __future__ import annotations

from typing import Any

from torch.export import ExportedProgram
from torch.export.graph_signature import ExportGraphSignature
from torch.fx import GraphModule


class HeldProgram:
    """A program that passes may hold, and what it had before they ran."""

    def __init__(self, program: ExportedProgram) -> None:
        self._program = program
        self._first = self._seen = _Contents(program)

    def carry_over(self, program: ExportedProgram, graph_module: GraphModule) -> None:
        """Gives `program`, whose graph is now that of `graph_module`, what passes have put into the held one since the
        last call, and takes from it what they have removed."""
        if program is self._program:
            return
        before, now = self._seen, _Contents(self._program)
        self._seen = now
        if before == now:
            return
        for mine, old, new in (
            (program.state_dict, before.state, now.state),
            (program.constants, before.constants, now.constants),
        ):
            for name in old.keys() - new.keys():
                mine.pop(name, None)
            mine.update({name: data for name, data in new.items() if old.get(name) is not data})
        program._graph_signature = _merged(program.graph_signature, now, graph_module)

    def restore(self) -> None:
        """As it was in the beginning, for those who go on with it."""
        program, first = self._program, self._first
        program._graph_signature = ExportGraphSignature(list(first.inputs), list(first.outputs))
        for holder, data in (
            (program.state_dict, first.state),
            (program.constants, first.constants),
        ):
            holder.clear()
            holder.update(data)


class _Contents:
    """Compared by identity: tensors have no truth value."""

    def __init__(self, program: ExportedProgram) -> None:
        self.inputs = tuple(program.graph_signature.input_specs)
        self.outputs = tuple(program.graph_signature.output_specs)
        self.state = dict(program.state_dict)
        self.constants = dict(program.constants)

    def __eq__(self, other: object) -> bool:
        return isinstance(other, _Contents) and _ids(self) == _ids(other)

    __hash__ = None  # type: ignore[assignment]


def _ids(contents: _Contents) -> Any:
    return (
        contents.inputs,
        contents.outputs,
        {name: id(data) for name, data in contents.state.items()},
        {name: id(data) for name, data in contents.constants.items()},
    )


def _merged(
    own: ExportGraphSignature, held: _Contents, graph_module: GraphModule
) -> ExportGraphSignature:
    """A row for each placeholder by its name, the held program's where the own signature has none; the held program's
    outputs where the graph has as many. What does not fit stays, for who checks it."""
    rows = {spec.arg.name: spec for spec in (*held.inputs, *own.input_specs)}
    names = [node.name for node in graph_module.graph.find_nodes(op="placeholder")]
    inputs = [rows[name] for name in names if name in rows]
    results = graph_module.graph.output_node().args[0]
    outputs = own.output_specs
    if len(outputs) != len(results) == len(held.outputs):
        outputs = list(held.outputs)
    return ExportGraphSignature(inputs, list(outputs))
