# SPDX-License-Identifier: BSD-3-Clause
"""What is known ahead of time: the data of a program, and what some operators make of them."""

from __future__ import annotations

from collections.abc import Collection, Iterator, Mapping

import torch
from torch.export import ExportedProgram
from torch.fx import Node
from torch.fx.node import map_arg

from executorch.exir.graph_facts import called_op, is_pure, op_name
from executorch.exir.passes.constant_prop_pass import get_constant_placeholder_dict


class Constants(Mapping[Node, torch.Tensor]):
    """By node, placeholders in their order. `computed`: operators whose results are constant when all that they read
    is, None for all that read something and give the same every time; they are computed when they are asked for, and
    kept."""

    def __init__(self, program: ExportedProgram, computed: Collection[str] | None = ()) -> None:
        self._data = dict(get_constant_placeholder_dict(program))
        self._computed: dict[Node, None] = {}
        for node in program.graph.nodes:
            sources = node.all_input_nodes
            is_known = _gives_the_same(node) if computed is None else op_name(node) in computed
            is_call = node.op == "call_function" and is_known
            if is_call and sources and all(each in self for each in sources):
                self._computed[node] = None

    def __contains__(self, node: object) -> bool:
        return node in self._data or node in self._computed

    def __getitem__(self, node: Node) -> torch.Tensor:
        if node not in self._data:
            if node not in self._computed:
                raise KeyError(node)
            args, kwargs = map_arg((node.args, node.kwargs), self.__getitem__)
            with torch.no_grad():
                self._data[node] = node.target(*args, **kwargs)
        return self._data[node]

    def __iter__(self) -> Iterator[Node]:
        return iter(dict.fromkeys([*self._data, *self._computed]))

    def __len__(self) -> int:
        return len({*self._data, *self._computed})

    def is_computed(self, node: Node) -> bool:
        return node in self._computed

    def computed_inputs(self, node: Node) -> list[Node]:
        """Calls that are computed ahead for `node`, each behind what it reads."""
        direct = [each for each in node.all_input_nodes if self.is_computed(each)]
        return [found for each in direct for found in (*self.computed_inputs(each), each)]


def _gives_the_same(node: Node) -> bool:
    """A random number that is computed ahead would be one number for all runs."""
    op = called_op(node)
    return op is None or is_pure(op)
