# SPDX-License-Identifier: BSD-3-Clause
"""relu(add(x, y))  ->  mine.add_relu(x, y), when the table's row of relu takes the call: `TablePass` rewrites an edge
program to a backend's own operators, of which there are kernels; nothing is delegated."""

from __future__ import annotations

from collections.abc import Iterator

from torch.export import ExportedProgram
from torch.fx import Graph, GraphModule, Node
from torch.fx.passes.infra.pass_base import PassResult

from executorch.exir.backend.lowering.op_table import OpTable, Row
from executorch.exir.graph_facts import DATA_KINDS, called_op, input_specs, is_pure, op_name


class TablePass:
    """For `edge_transform_passes` of a recipe and `EdgeProgramManager.transform`. A row's `lower(graph, node)` writes
    what stands for a call, in front of it, and gives that node: it gets the call's users and facts, and what fed the
    call alone goes. The last call is asked first, so that a row of several calls wins over rows of each. `program`:
    whose constants the conditions are told of."""

    def __init__(self, table: OpTable[Row], program: ExportedProgram | None = None) -> None:
        self.table = table
        specs = input_specs(program.graph_signature) if program is not None else {}
        self._data = {name for name, spec in specs.items() if spec.kind in DATA_KINDS}

    def __call__(self, graph_module: GraphModule) -> PassResult:
        modules = [each for each in graph_module.modules() if isinstance(each, GraphModule)]
        changed = [each for each in modules if self._rewrite(each.graph)]
        for each in changed:
            each.graph.lint()
            each.recompile()
        return PassResult(graph_module, bool(changed))

    def why_not(self, graph_module: GraphModule) -> dict[Node, str]:
        """Calls of operators that have a row and stay as they are, and why."""
        constants = self._constants(graph_module.graph)
        found = {
            node: self.table.why_not(node, constants) for node in self._calls(graph_module.graph)
        }
        return {node: reason for node, reason in found.items() if reason}

    def _rewrite(self, graph: Graph) -> bool:
        constants, gone, is_changed = self._constants(graph), set[Node](), False
        for node in reversed(list(self._calls(graph))):
            if node in gone or self.table.why_not(node, constants):
                continue
            with graph.inserting_before(node):
                made = self.table.row(node).lower(graph, node)
            made.meta = dict(node.meta)
            node.replace_all_uses_with(made)
            _erase_unused(node, gone)
            is_changed = True
        return is_changed

    def _calls(self, graph: Graph) -> Iterator[Node]:
        return (node for node in graph.nodes if op_name(node) in self.table)

    def _constants(self, graph: Graph) -> set[Node]:
        return {node for node in graph.find_nodes(op="placeholder") if node.name in self._data}


def _erase_unused(node: Node, gone: set[Node]) -> None:
    """A call without users, and what fed it alone."""
    op = called_op(node)
    if node.users or node.op != "call_function" or (op is not None and not is_pure(op)):
        return
    inputs = node.all_input_nodes
    node.graph.erase_node(node)
    gone.add(node)
    for each in inputs:
        if each not in gone:
            _erase_unused(each, gone)
