# SPDX-License-Identifier: BSD-3-Clause
"""Where memory planning put every tensor of a method, as a trace for Chrome's viewer (chrome://tracing, Perfetto).

The viewer's axes mean other things here: across, bytes (its second is a megabyte); down, a process is a memory space,
and in it a thread is a step of the method: the tensors that live then.
"""

from __future__ import annotations

import json
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from torch.fx import GraphModule, Node

from executorch.exir import ExecutorchProgramManager, memory
from executorch.exir.memory_lifetimes import specs_of
from executorch.exir.tensor import TensorSpec


@dataclass(frozen=True)
class _Placed:
    """A planned tensor: what made it, where it is, and the steps from `first` to `last` in which it does."""

    name: str
    space: int
    offset: int
    size: int
    first: int
    last: int
    stack: str


def generate_memory_trace(
    executorch_program_manager: ExecutorchProgramManager,
    chrome_trace_filename: str,
    enable_memory_offsets: bool = False,
    method_name: str = "forward",
    ommit_metadata: bool = False,
) -> None:
    """Writes the trace of a method as JSON.

    Args:
        executorch_program_manager: what `to_executorch()` returned.
        chrome_trace_filename: the file to write.
        enable_memory_offsets: tensors stand at their offsets; without it those of a step stand one after the other.
        method_name: one of the program's methods.
        ommit_metadata: leaves the traces of the model's source out.

    Raises:
        ValueError: the program has no such method, or nothing in it is planned.
    """
    known = sorted(executorch_program_manager.methods)
    if method_name not in known:
        raise ValueError(f"expected a method of {', '.join(known)}, found {method_name!r}")
    module = executorch_program_manager.exported_program(method_name).graph_module
    tensors = _placed(module)
    if not tensors:
        raise ValueError(
            f"method {method_name!r} has no planned tensors: expected a program after to_executorch()"
        )
    events = list(_events(tensors, _steps(module), enable_memory_offsets, ommit_metadata))
    Path(chrome_trace_filename).write_text(json.dumps({"traceEvents": events}))


def _steps(module: GraphModule) -> dict[int, str]:
    return {index: node.name for index, node in enumerate(module.graph.nodes)}


def _placed(module: GraphModule) -> list[_Placed]:
    """Every planned tensor once, under the call that writes it or the input that it is."""
    found: dict[int, _Placed] = {}
    nodes = sorted(module.graph.nodes, key=lambda node: node.target is memory.alloc)
    for node in nodes:
        for spec in specs_of(node):
            if id(spec) not in found and _is_planned(spec):
                found[id(spec)] = _place(node, spec)
    return list(found.values())


def _is_planned(spec: TensorSpec) -> bool:
    return spec.mem_id is not None and spec.mem_offset is not None and None not in spec.lifetime


def _place(node: Node, spec: TensorSpec) -> _Placed:
    first, last = spec.lifetime
    stack = str(node.meta.get("stack_trace") or "")
    return _Placed(
        node.name, spec.mem_id, spec.mem_offset, spec.allocated_memory, first, last, stack
    )


def _events(
    tensors: list[_Placed], steps: dict[int, str], offsets: bool, without_stacks: bool
) -> Iterator[dict[str, Any]]:
    for space in sorted({tensor.space for tensor in tensors}):
        yield _named("process_name", space, 0, f"memory space {space}")
        inside = sorted((t for t in tensors if t.space == space), key=lambda t: t.offset)
        for step, name in steps.items():
            alive = [t for t in inside if t.first <= step <= t.last]
            if not alive:
                continue
            yield _named("thread_name", space, step, f"{step} {name}")
            at = 0
            for tensor in alive:
                start = tensor.offset if offsets else at
                at += tensor.size
                args: dict[str, Any] = {"bytes": tensor.size, "offset": tensor.offset}
                if not without_stacks:
                    args["stack_trace"] = tensor.stack
                yield {
                    "name": tensor.name,
                    "cat": "memory",
                    "ph": "X",
                    "ts": start,
                    "dur": tensor.size,
                    "pid": space,
                    "tid": step,
                    "args": args,
                }


def _named(what: str, space: int, step: int, name: str) -> dict[str, Any]:
    return {"name": what, "ph": "M", "pid": space, "tid": step, "args": {"name": name}}
