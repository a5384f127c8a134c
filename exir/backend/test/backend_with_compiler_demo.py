# SPDX-License-Identifier: BSD-3-Clause
"""The smallest compiler: a program becomes a line of text per operator, which backends/demo runs.

blob:    <number of operators>#<operator>#<operator>#...
operator: op:demo::aten.sin.default, numel:1, dtype:torch.float32<debug_handle>1
An operator takes the result of the one before, then the inputs nobody has taken yet; the last one gives the output.
What does not follow this rule says so at its end: <args>0,2 (values count from the first input on) and <out>.
"""

from __future__ import annotations

from typing import NamedTuple

import torch
from torch.export import ExportedProgram
from torch.fx import Node

from executorch.exir.backend.backend_details import BackendDetails, PreprocessResult
from executorch.exir.backend.compile_spec_schema import CompileSpec
from executorch.exir.backend.utils import is_shape_dynamic
from executorch.exir.dialects._ops import ops
from executorch.exir.error import ExportError, ExportErrorType

# Operator -> how many tensors it reads.
_ARITY = {
    ops.edge.aten.add.Tensor: 2,
    ops.edge.aten.mul.Tensor: 2,
    ops.edge.aten.mm.default: 2,
    ops.edge.aten.sin.default: 1,
}


class DemoOp(NamedTuple):
    op: str
    numel: int
    dtype: str


class BackendWithCompilerDemo(BackendDetails):
    """Knows add, mul, mm and sin of equally large f32 tensors."""

    @staticmethod
    def preprocess(
        edge_program: ExportedProgram, compile_specs: list[CompileSpec]
    ) -> PreprocessResult:
        calls = [node for node in edge_program.graph.nodes if node.op == "call_function"]
        debug_handle_map = {}
        values = [node for node in edge_program.graph.nodes if node.op == "placeholder"]
        inputs = list(values)
        previous: Node | None = None
        text = f"{len(calls)}#"
        for node in calls:
            _check(node)
            handle = node.meta.get("debug_handle", 0)
            debug_handle_map[handle] = (handle,)
            demo = _demo_op(node)
            text += f"op:{demo.op}, numel:{demo.numel}, dtype:{demo.dtype}<debug_handle>{handle}"
            text += _wiring(node, previous, inputs, values) + _output_mark(node, calls) + "#"
            values.append(node)
            previous = node
        return PreprocessResult(text.encode(), debug_handle_map)


def why_not(node: Node) -> str:
    """Why the compiler does not take a call; empty when it does."""
    if node.target not in _ARITY:
        return f"expected one of {', '.join(map(str, _ARITY))}"
    if node.kwargs or not all(isinstance(arg, Node) for arg in node.args):
        return "expected tensors without further arguments"
    values = [each.meta["val"] for each in (node, *node.args)]
    if any(value.dtype != torch.float32 or not value.is_contiguous() for value in values):
        return f"expected contiguous f32 tensors, found {[value.dtype for value in values]}"
    shapes = [value.shape for value in values]
    if any(is_shape_dynamic(each) for each in (node, *node.args)):
        return f"expected sizes that are known ahead of time, found {shapes}"
    if node.target is not ops.edge.aten.mm.default and any(shape != shapes[0] for shape in shapes):
        return f"expected tensors of one shape, found {shapes}"
    return ""


def _check(node: Node) -> None:
    reason = why_not(node)
    if reason:
        raise ExportError(
            ExportErrorType.NOT_SUPPORTED,
            f"BackendWithCompilerDemo: node {node.name} ({node.target}): {reason}. Let the partitioner leave it out",
        )


def _demo_op(node: Node) -> DemoOp:
    value = node.meta["val"]
    name = str(node.target._op).replace("aten.", "demo::aten.", 1)
    return DemoOp(name, value.numel(), str(value.dtype))


def _wiring(node: Node, previous: Node | None, inputs: list[Node], values: list[Node]) -> str:
    """Empty when the operands are those that the rule gives."""
    by_rule = ([previous] if previous is not None else []) + inputs
    count = _ARITY[node.target]
    operands = list(node.args[:count])
    taken = count - (previous is not None)
    if operands == by_rule[:count]:
        del inputs[:taken]
        return ""
    inputs[:] = [value for value in inputs if value not in operands]
    return "<args>" + ",".join(str(values.index(operand)) for operand in operands)


def _output_mark(node: Node, calls: list[Node]) -> str:
    """Outputs are marked when they are not just the last operator's result."""
    returned = list(node.graph.output_node().args[0])
    if returned == [calls[-1]] or node not in returned:
        return ""
    return f"<out>{','.join(str(i) for i, value in enumerate(returned) if value is node)}"
