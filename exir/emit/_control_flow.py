# SPDX-License-Identifier: BSD-3-Clause
"""Higher-order operators as jumps, moves and delegate calls: one function per operator, one table."""

from __future__ import annotations

import operator
from typing import Any

from torch.fx import GraphModule, Node

from executorch.exir import schema
from executorch.exir.emit._emitter import Lowering, MethodEmitter
from executorch.exir.error import internal_assert
from executorch.exir.graph_module import Loop, loop_of
from executorch.exir.schema import TensorShapeDynamism


def _attribute(node: Node) -> Any:
    """The module that a get_attr node stands for."""
    return operator.attrgetter(node.target)(node.graph.owning_module)


def _inline(emitter: MethodEmitter, module: GraphModule, operands: list[int]) -> list[int]:
    """Emits a submodule with its placeholders bound to `operands`; gives the values of its outputs."""
    placeholders = module.graph.find_nodes(op="placeholder")
    for placeholder, operand in zip(placeholders, operands, strict=True):
        emitter.value_of[placeholder] = operand
    return [emitter.index_of(value) for value in emitter.emit_graph(module)]


def _branch(
    emitter: MethodEmitter, node: Node, operands: list[int], results: list[int]
) -> list[int]:
    """Gives the values that became the results."""
    outputs = _inline(emitter, _attribute(node), operands)
    internal_assert(
        len(outputs) == len(results),
        f"branch {node.target} yields {len(outputs)} values, the condition {len(results)}",
    )
    for output, result in zip(outputs, results, strict=True):
        emitter.append(schema.MoveCall(move_from=output, move_to=result))
    return outputs


def _place(emitter: MethodEmitter, index: int) -> schema.AllocationDetails | None:
    return getattr(emitter.table.values[index].val, "allocation_info", None)


def _emit_cond(emitter: MethodEmitter, node: Node) -> None:
    """Jump to the false branch or run the true one, which jumps over the other."""
    predicate, true_branch, false_branch, operand_nodes = node.args
    operands = [emitter.index_of(operand) for operand in operand_nodes]
    results = emitter.new_slots(node)
    to_false = schema.JumpFalseCall(emitter.index_of(predicate), 0)
    emitter.append(to_false)
    if_true = _branch(emitter, true_branch, operands, results)
    over = schema.JumpFalseCall(emitter.table.constant(False), 0)
    emitter.append(over)
    to_false.destination_instruction = emitter.next_instruction
    if_false = _branch(emitter, false_branch, operands, results)
    over.destination_instruction = emitter.next_instruction
    emitter.value_of[node] = results
    for result, *given in zip(results, if_true, if_false, strict=True):
        if any(_place(emitter, value) != _place(emitter, result) for value in given):
            emitter.moved.add(result)


def _emit_loop(emitter: MethodEmitter, node: Node) -> None:
    """Carried values live in the results' memory; the body reads them there, its new values are copied there.

        carried = init; i = 0
        where their number is dynamic: stacked = tensors of as many rows; stop if there are no slices
    start:  stop unless the condition holds (while_loop)
        slices = sliced[i]; run the body; carried = new values; stacked[i] = slices of results
        i = i + 1; back to start unless i == size
    """
    loop = loop_of(node)
    count = len(loop.carried)
    for spec in node.meta["spec"][count:]:
        spec.shape_dynamism = TensorShapeDynamism.DYNAMIC_BOUND  # grows by one slice at a time
    results = emitter.new_slots(node)
    carried, stacked = results[:count], results[count:]
    extra = [emitter.index_of(value) for value in loop.extra]
    for value, slot in zip(loop.carried, carried, strict=True):
        _copy(emitter, emitter.index_of(value), slot)
    index = emitter.table.add(schema.Int(0))
    leave = size = None
    if loop.sliced:
        emitter.kernel_call("executorch_prim::sub", "Scalar", [index, index, index], 1)
        size = _number_of_slices(emitter, loop.sliced[0])
        leave = _unless_empty(emitter, loop, size, stacked)
    start = emitter.next_instruction
    if loop.condition is not None:
        (holds,) = _inline(emitter, loop.condition, [*carried, *extra])
        leave = schema.JumpFalseCall(holds, 0)
        emitter.append(leave)
    placeholders = loop.body.graph.find_nodes(op="placeholder")[count:]
    slices = [
        _slice(emitter, value, index, placeholder)
        for value, placeholder in zip(loop.sliced, placeholders, strict=False)
    ]
    outputs = _inline(emitter, loop.body, [*carried, *slices, *extra])
    for output, slot in zip(outputs, results, strict=True):
        if slot in carried:
            _copy(emitter, output, slot)
        else:
            emitter.kernel_call(
                "executorch_prim::et_copy_index", "tensor", [slot, output, index], 1
            )
    done = _computed_false(emitter) if size is None else _step(emitter, index, size)
    emitter.append(schema.JumpFalseCall(done, start))
    if leave is not None:
        leave.destination_instruction = emitter.next_instruction
    emitter.value_of[node] = [*carried, *stacked]


def _copy(emitter: MethodEmitter, source: int, target: int) -> None:
    none = emitter.table.constant(None)
    emitter.kernel_call("aten::clone", "out", [source, none, target, target], 1)


def _slice(emitter: MethodEmitter, value: Any, index: int, placeholder: Node) -> int:
    """value[index], in the memory of the body's placeholder."""
    slot = emitter.new_slot(placeholder.meta["spec"], placeholder.meta["val"])
    first = emitter.table.constant(0)
    args = [emitter.index_of(value), first, index, slot, slot]
    emitter.kernel_call("aten::select_copy", "int_out", args, 1)
    return slot


def _number_of_slices(emitter: MethodEmitter, sliced: Node) -> int:
    size = sliced.meta["val"].shape[0]
    if isinstance(size, int):
        return emitter.table.constant(size)
    slices = emitter.table.add(schema.Int(0))
    args = [emitter.index_of(sliced), emitter.table.constant(0), slices]
    emitter.kernel_call("aten::sym_size", "int", args, 1)
    return slices


def _unless_empty(
    emitter: MethodEmitter, loop: Loop, slices: int, stacked: list[int]
) -> schema.JumpFalseCall | None:
    """Gives the results no rows and leaves when there is nothing to slice; None where the number of slices is
    static, or where the sizes of a result's rows are not known before the first."""
    size = loop.sliced[0].meta["val"].shape[0]
    (output,) = loop.body.graph.find_nodes(op="output")
    values = [value.meta["val"] for value in output.args[0][len(loop.carried) :]]
    known = all(isinstance(each, int) for value in values for each in value.shape)
    if isinstance(size, int) or not known:
        return None
    none = emitter.table.constant(None)
    for slot, value in zip(stacked, values, strict=True):
        rest = [emitter.table.constant(each) for each in value.shape]
        sizes = emitter.table.add(schema.IntList([slices, *rest]))
        emitter.kernel_call("aten::empty", "out", [sizes, none, slot, slot], 1)
    some, zero = emitter.table.add(schema.Bool(False)), emitter.table.constant(0)
    emitter.kernel_call("executorch_prim::lt", "Scalar", [zero, slices, some], 1)
    leave = schema.JumpFalseCall(some, 0)
    emitter.append(leave)
    return leave


def _step(emitter: MethodEmitter, index: int, slices: int) -> int:
    """Adds one to the index; the slot that tells whether it was the last slice."""
    done = emitter.table.add(schema.Bool(False))
    one = emitter.table.constant(1)
    emitter.kernel_call("executorch_prim::add", "Scalar", [index, one, index], 1)
    emitter.kernel_call("executorch_prim::eq", "Scalar", [index, slices, done], 1)
    return done


def _computed_false(emitter: MethodEmitter) -> int:
    """False, as an instruction's result: loaders refuse backward jumps on what nothing in between computes."""
    slot, zero = emitter.table.add(schema.Bool(False)), emitter.table.constant(0)
    emitter.kernel_call("executorch_prim::lt", "Scalar", [zero, zero, slot], 1)
    return slot


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
        "delegate_map": (lowered.meta or {}).get("debug_handle_map"),
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
    "map_impl": _emit_loop,
    "scan": _emit_loop,
    "while_loop": _emit_loop,
}
