# SPDX-License-Identifier: BSD-3-Clause
"""Programs and graphs as text for people."""

from __future__ import annotations

import enum
import importlib
import sys
from dataclasses import fields, is_dataclass
from typing import TYPE_CHECKING, Any, TextIO

from executorch.exir import schema
from executorch.exir.error import ExportError, ExportErrorType
from executorch.exir.scalar_type import ScalarType
from executorch.exir.schema import FrameList, Program

if TYPE_CHECKING:
    import torch

_SHOWN_BYTES = 16
_DYNAMISM = {1: "dynamic", 2: "unbounded"}


def print_program(
    program: Program,
    show_meminfo: bool = True,
    mark_dynamic_shape_tensor: bool = False,
    out: TextIO | None = None,
) -> None:
    """Each method with its values and its instructions, one per line.

    `show_meminfo`: arena and offset of planned tensors; `mark_dynamic_shape_tensor`: which sizes are upper bounds.
    """
    out = out or sys.stdout
    for plan in program.execution_plan:
        print(f"method {plan.name}", file=out)
        print(
            f"  arenas: {', '.join(map(str, plan.non_const_buffer_sizes[1:])) or 'none'}", file=out
        )
        print(f"  inputs: {_indices(plan.inputs)}  outputs: {_indices(plan.outputs)}", file=out)
        for index, value in enumerate(plan.values):
            text = _value(value.val, show_meminfo, mark_dynamic_shape_tensor)
            print(f"  %{index} = {text}", file=out)
        for number, chain in enumerate(plan.chains):
            print(f"  chain {number}", file=out)
            for position, instruction in enumerate(chain.instructions):
                print(f"    {position}: {_instruction(plan, instruction.instr_args)}", file=out)


def _indices(items: list[int]) -> str:
    return "[" + ", ".join(f"%{item}" for item in items) + "]"


def _value(value: Any, show_meminfo: bool, mark_dynamic: bool) -> str:
    if isinstance(value, schema.Tensor):
        return _tensor(value, show_meminfo, mark_dynamic)
    if is_dataclass(value) and fields(value):
        content = getattr(value, fields(value)[0].name)
        return f"{type(value).__name__} {content!r}"
    return type(value).__name__


def _tensor(tensor: schema.Tensor, show_meminfo: bool, mark_dynamic: bool) -> str:
    dtype = ScalarType(tensor.scalar_type).dtype_name
    parts = [f"Tensor {dtype}{list(tensor.sizes)}"]
    if list(tensor.dim_order) != sorted(tensor.dim_order):
        parts.append(f"dim_order {list(tensor.dim_order)}")
    if mark_dynamic and tensor.shape_dynamism in _DYNAMISM:
        parts.append(_DYNAMISM[tensor.shape_dynamism])
    if tensor.allocation_info is not None and show_meminfo:
        place = tensor.allocation_info
        parts.append(f"arena {place.memory_id} offset {place.memory_offset}")
    if tensor.data_buffer_idx:
        parts.append(f"data {tensor.data_buffer_idx}")
    if tensor.extra_tensor_info is not None and tensor.extra_tensor_info.fully_qualified_name:
        parts.append(f"name {tensor.extra_tensor_info.fully_qualified_name}")
    return ", ".join(parts)


def _instruction(plan: schema.ExecutionPlan, call: Any) -> str:
    if isinstance(call, schema.KernelCall):
        operator = plan.operators[call.op_index]
        name = f"{operator.name}.{operator.overload}" if operator.overload else operator.name
        return f"{name} {_indices(call.args)}"
    if isinstance(call, schema.DelegateCall):
        return f"delegate {plan.delegates[call.delegate_index].id} {_indices(call.args)}"
    if isinstance(call, schema.MoveCall):
        return f"move %{call.move_from} -> %{call.move_to}"
    if isinstance(call, schema.JumpFalseCall):
        return f"if not %{call.cond_value_index} jump to {call.destination_instruction}"
    return f"free %{call.value_index}"


def pretty_print(obj: Any, indent: int = 0, out: TextIO | None = None) -> None:
    """Any dataclass of exir.schema with all its fields, nested; long bytes shortened."""
    if any(kind.__name__ == "GraphModule" for kind in type(obj).__mro__):
        raise ExportError(
            ExportErrorType.INVALID_INPUT_TYPE,
            "pretty_print() does not take a GraphModule; use graph_module.print_readable()",
        )
    out = out or sys.stdout
    print(_pretty(obj, indent), file=out)


def _pretty(obj: Any, indent: int) -> str:
    pad, inner = "  " * indent, "  " * (indent + 1)
    if isinstance(obj, FrameList):
        return pretty_print_stacktraces(obj)
    if is_dataclass(obj) and not isinstance(obj, type):
        if not fields(obj):
            return f"{type(obj).__name__}()"
        lines = [
            f"{inner}{f.name}={_pretty(getattr(obj, f.name), indent + 1)}," for f in fields(obj)
        ]
        return f"{type(obj).__name__}(\n" + "\n".join(lines) + f"\n{pad})"
    if isinstance(obj, list):
        if all(isinstance(item, int | float | str) for item in obj):
            return repr(obj)
        lines = [f"{inner}{_pretty(item, indent + 1)}," for item in obj]
        return "[\n" + "\n".join(lines) + f"\n{pad}]"
    if isinstance(obj, enum.Enum):
        return f"{type(obj).__name__}.{obj.name}"
    return _bytes_text(obj) if _is_bytes(obj) else repr(obj)


def _is_bytes(obj: Any) -> bool:
    return not isinstance(obj, str | int | float | None) and hasattr(obj, "__len__")


def _bytes_text(obj: Any) -> str:
    data = memoryview(obj)
    head = bytes(data[:_SHOWN_BYTES])
    return f"<{data.nbytes} bytes: {head.hex(' ')}{' ...' if data.nbytes > _SHOWN_BYTES else ''}>"


def pretty_print_stacktraces(obj: FrameList) -> str:
    """Like a Python traceback, innermost line last."""
    lines = ["Traceback (most recent call last):"]
    for frame in obj.items:
        lines.append(f'  File "{frame.filename}", line {frame.lineno}, in {frame.name}')
        lines.append(f"    {frame.context}")
    return "\n".join(lines)


def _stacktrace_to_framelist(stacktrace: str) -> FrameList:
    """The way back."""
    return importlib.import_module("executorch.exir.emit._stack_frames").frames_in(stacktrace)


def add_cursor_to_graph(graph: torch.fx.Graph, finding_node: torch.fx.Node) -> str:
    """The graph as text with `-->` before one node."""
    lines = ["graph():"]
    for node in graph.nodes:
        text = node.format_node()
        if text is None:
            text = f"return {node.args[0]}"
        lines.append(f"{'--> ' if node is finding_node else '    '}{text}")
    return "\n".join(lines)


def inspect_node(graph: torch.fx.Graph, node: torch.fx.Node) -> str:
    """Where a node stands in its graph, and the Python lines it comes from."""
    text = f"Here is the node in the graph module:\n{add_cursor_to_graph(graph, node)}\n"
    trace = node.meta.get("stack_trace")
    if trace is None:
        return text + f"This node {node} has no stack trace.\n"
    return (
        f"{text}This node {node} has metadata of:\nThe node stacktrace:\n"
        f"Traceback (most recent call last):\n{trace}\n"
    )
