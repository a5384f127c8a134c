# SPDX-License-Identifier: BSD-3-Clause
"""relu(add(x, y))  ->  mine.add_relu(x, y), when the table's row of that pattern takes it: `TablePass` rewrites an edge
program to a backend's own operators, of which there are kernels; nothing is delegated."""

from __future__ import annotations

from torch.export import ExportedProgram
from torch.fx import Graph, GraphModule, Node
from torch.fx.passes.infra.pass_base import PassResult

from executorch.exir.backend.lowering.kernels.left_in_floats import warn_of_floats
from executorch.exir.backend.lowering.kernels.memory_order import (
    copied,
    have_same_dim_order,
    value_of,
)
from executorch.exir.backend.lowering.kernels.rows import QUANTIZE
from executorch.exir.backend.lowering.kernels.writer import KernelWriter, ProgramData
from executorch.exir.backend.lowering.op_table import OpTable, Row
from executorch.exir.backend.lowering.patterns import find
from executorch.exir.backend.lowering.steps import Step, nodes_of
from executorch.exir.graph_facts import called_op, is_pure, op_name


class TablePass:
    """For `edge_transform_passes` of a recipe and `EdgeProgramManager.transform`. A row's `lower(writer, step)` writes
    what stands for a step, in front of its result, and gives that node: it gets the result's users and facts, and what
    fed the step alone goes. `program`: whose constants the conditions are told of, and the writer has; `options`: what
    the backend's rows ask its writer for, such as the processor."""

    def __init__(
        self,
        table: OpTable[Row],
        program: ExportedProgram | None = None,
        options: object = None,
    ) -> None:
        self.table = table
        self._data = ProgramData(program)
        self._options = options

    def __call__(self, graph_module: GraphModule) -> PassResult:
        modules = [each for each in graph_module.modules() if isinstance(each, GraphModule)]
        changed = [each for each in modules if self._rewrite(each.graph)]
        for each in changed:
            each.graph.lint()
            each.recompile()
        if any(QUANTIZE in each.results() for each in self.table.rows_of_patterns):
            warn_of_floats(graph_module.graph, self.why_not(graph_module))
        return PassResult(graph_module, bool(changed))

    def why_not(self, graph_module: GraphModule) -> dict[Node, str]:
        """Results of what looks like a row and stays as it is, and why: not those that another row takes. Of several
        rows, the one of most calls."""
        refused = sorted(self.refused(graph_module.graph), key=lambda pair: len(nodes_of(pair[0])))
        return {step.result: reason for step, reason in refused}

    def refused(self, graph: Graph) -> list[tuple[Step, str]]:
        """Steps of all rows whose calls stay as they are, each with its reason."""
        constants = self._constants(graph)
        steps = [self.table.step_at(node) for node in graph.nodes if self._has_row(node)]
        for pattern in self.table.rows_of_patterns:
            for node in graph.nodes:
                found = find(pattern, node) if op_name(node) in pattern.results() else None
                if found is not None:
                    steps.append(Step(node, node, found.calls, found.named, pattern))
        taken = {node for step in self._taken(graph, constants) for node in nodes_of(step)}
        left = [step for step in steps if step.result not in taken]
        reasons = [(step, self.table.step_why_not(step, constants)) for step in left]
        return [(step, reason) for step, reason in reasons if reason]

    def _taken(self, graph: Graph, constants: set[Node]) -> list[Step]:
        return [
            step
            for step in self.table.steps(graph, constants)
            if (step.pattern is not None or self._has_row(step.head))
            and not self.table.step_why_not(step, constants)
        ]

    def _rewrite(self, graph: Graph) -> bool:
        steps = self._taken(graph, self._constants(graph))
        made = []
        writer = KernelWriter(graph, self._data, self._options)
        for step in steps:  # all are written before any goes: steps read each other's results
            with graph.inserting_before(step.result):
                made.append(_in_its_order(self.table.row_of(step).lower(writer, step), step.result))
        for step, node in zip(steps, made, strict=True):
            step.result.replace_all_uses_with(node)
        gone: set[Node] = set()
        for step in reversed(steps):
            _erase_unused(step.result, gone)
        return bool(steps)

    def _has_row(self, node: Node) -> bool:
        return op_name(node) in self.table

    def _constants(self, graph: Graph) -> set[Node]:
        return {node for node in graph.find_nodes(op="placeholder") if node in self._data}


def _in_its_order(made: Node, result: Node) -> Node:
    """What was written, with the facts of what it stands for; copied where it lies otherwise in memory."""
    value = value_of(made)
    made.meta = {**result.meta, "val": value}
    if have_same_dim_order(value, result.meta["val"]):
        made.meta["val"] = result.meta["val"]
        return made
    return copied(made, list(result.meta["val"].dim_order()))


def _erase_unused(node: Node, gone: set[Node]) -> None:
    """A call without users, and what fed it alone."""
    op = called_op(node)
    is_kept = node.users or node.op != "call_function" or (op is not None and not is_pure(op))
    if node in gone or is_kept:
        return
    inputs = node.all_input_nodes
    node.graph.erase_node(node)
    gone.add(node)
    for each in inputs:
        _erase_unused(each, gone)
