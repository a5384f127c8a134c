# SPDX-License-Identifier: BSD-3-Clause
"""Higher-order operators as jumps, moves and delegate calls: one function per operator, one table."""

from __future__ import annotations

import operator
from typing import Any

from torch.fx import GraphModule, Node

from executorch.exir import schema
from executorch.exir.emit._emitter import Lowering, MethodEmitter
from executorch.exir.error import internal_assert


def _attribute(node: Node) -> Any:
    """The module that a get_attr node stands for."""
    return operator.attrgetter(node.target)(node.graph.owning_module)


def _inline(emitter: MethodEmitter, module: GraphModule, operands: list[int]) -> list[int]:
    """Emits a submodule with its placeholders bound to `operands`; gives the values of its outputs."""
    placeholders = module.graph.find_nodes(op="placeholder")
    for placeholder, operand in zip(placeholders, operands, strict=True):
        emitter.value_of[placeholder] = operand
    return [emitter.index_of(value) for value in emitter.emit_graph(module)]


def _branch(emitter: MethodEmitter, node: Node, operands: list[int], results: list[int]) -> None:
    outputs = _inline(emitter, _attribute(node), operands)
    internal_assert(
        len(outputs) == len(results),
        f"branch {node.target} yields {len(outputs)} values, the condition {len(results)}",
    )
    for output, result in zip(outputs, results, strict=True):
        emitter.append(schema.MoveCall(move_from=output, move_to=result))


def _emit_cond(emitter: MethodEmitter, node: Node) -> None:
    """Jump to the false branch or run the true one, which jumps over the other."""
    predicate, true_branch, false_branch, operand_nodes = node.args
    operands = [emitter.index_of(operand) for operand in operand_nodes]
    results = emitter.new_slots(node)
    to_false = schema.JumpFalseCall(emitter.index_of(predicate), 0)
    emitter.append(to_false)
    _branch(emitter, true_branch, operands, results)
    over = schema.JumpFalseCall(emitter.table.constant(False), 0)
    emitter.append(over)
    to_false.destination_instruction = emitter.next_instruction
    _branch(emitter, false_branch, operands, results)
    over.destination_instruction = emitter.next_instruction
    emitter.value_of[node] = results


def _emit_delegate(emitter: MethodEmitter, node: Node) -> None:
    """One call and one delegate entry per call site; equal blobs are stored once."""
    lowered = _attribute(node.args[0])
    inputs = [emitter.index_of(argument) for argument in node.args[1:]]
    outputs = emitter.new_slots(node)
    reference = schema.BackendDelegateDataReference(
        schema.DataLocation.INLINE, emitter.add_blob(lowered.processed_bytes)
    )
    specs = [schema.CompileSpec(spec.key, spec.value) for spec in lowered.compile_specs]
    index = emitter.add_delegate(schema.BackendDelegate(lowered.backend_id, reference, specs))
    call = schema.DelegateCall(index, [*inputs, *outputs])
    instruction = emitter.append(call, num_outs=len(outputs))
    emitter.record.debug_handles[instruction] = _debug_handles(lowered)
    emitter.record.delegate_maps[instruction] = {
        "name": lowered.backend_id,
        "delegate_map": lowered.meta.get("debug_handle_map") or {},
    }
    several = isinstance(node.meta["val"], list | tuple)
    emitter.value_of[node] = outputs if several else outputs[0]


def _debug_handles(lowered: Any) -> list[int]:
    nodes = lowered.original_module.graph_module.graph.nodes
    return [
        node.meta["debug_handle"]
        for node in nodes
        if node.op == "call_function" and "debug_handle" in node.meta
    ]


HIGHER_ORDER_LOWERINGS: dict[str, Lowering] = {
    "cond": _emit_cond,
    "executorch_call_delegate": _emit_delegate,
}
