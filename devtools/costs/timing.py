# SPDX-License-Identifier: BSD-3-Clause
"""Operators that take longer than the bytes that they move and the multiply-adds that they do need on this machine."""

from __future__ import annotations

import tempfile
import time
from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import torch
from torch.fx import GraphModule, Node
from torch.utils import _pytree as pytree

from executorch.devtools.inspector import Inspector
from executorch.devtools.inspector._events import Event
from executorch.devtools.inspector._graphs import one_method
from executorch.exir.program._etrecord import ETRecord

_COPIED_BYTES, _WIDTH, _REPEATS = 1 << 25, 768, 5
_CALL_SECONDS = 2e-6  # arguments, checks, two readings of the clock
_EXECUTIONS = 5


@dataclass(frozen=True)
class Machine:
    """What it reaches on large tensors: bytes read and written by a copy, multiplications added by a float32 matmul,
    per second, with all threads of PyTorch. `call_seconds`: of any call."""

    bytes_per_second: float
    multiply_adds_per_second: float
    call_seconds: float = _CALL_SECONDS

    def seconds(self, num_bytes: int, multiply_adds: int) -> float:
        work = max(num_bytes / self.bytes_per_second, multiply_adds / self.multiply_adds_per_second)
        return work + self.call_seconds


@dataclass(frozen=True)
class Measured:
    """`seconds`: the least of several executions; `expected`: what the machine needs at least."""

    name: str
    nodes: tuple[str, ...]
    handles: tuple[int, ...]
    seconds: float
    expected: float
    num_bytes: int
    multiply_adds: int
    delegated: bool


def this_machine() -> Machine:
    """Takes a tenth of a second."""
    source = torch.ones(_COPIED_BYTES // 4)
    target = torch.empty_like(source)
    square = torch.rand(_WIDTH, _WIDTH)
    return Machine(
        2 * _COPIED_BYTES / _least(lambda: target.copy_(source)),
        _WIDTH**3 / _least(lambda: square @ square),
    )


def _least(work: Callable[[], Any]) -> float:
    def once() -> float:
        start = time.perf_counter()
        work()
        return time.perf_counter() - start

    return min(once() for _ in range(_REPEATS))


def measure(
    data: bytes, method: str, inputs: Sequence[Any], record: ETRecord, machine: Machine
) -> list[Measured]:
    """Every operator that the record knows, those inside of delegates included, in the order of execution. RuntimeError
    when the program does not load or run here."""
    nodes = _by_handle(record)
    measured = []
    for event in _events(data, method, inputs, record):
        handles = (
            (event.debug_handles,)
            if isinstance(event.debug_handles, int)
            else tuple(event.debug_handles or ())
        )
        joined = [node for handle in handles for node in nodes.get(handle, ())]
        if not joined or event.perf_data is None:
            continue
        num_bytes, multiply_adds = _bytes_of(joined), sum(map(multiply_adds_of, joined))
        measured.append(
            Measured(
                event.name.removeprefix("native_call_"),
                tuple(node.name for node in joined),
                handles,
                min(event.perf_data.raw) / 1e3,
                machine.seconds(num_bytes, multiply_adds),
                num_bytes,
                multiply_adds,
                bool(event.is_delegated_op),
            )
        )
    return measured


def _events(data: bytes, method: str, inputs: Sequence[Any], record: ETRecord) -> Iterator[Event]:
    from executorch.runtime import Runtime

    loaded = Runtime.get().load_program(data, enable_etdump=True)
    for _ in range(_EXECUTIONS):
        loaded.load_method(method).execute(inputs)
    with tempfile.TemporaryDirectory() as folder:
        dump = str(Path(folder) / "dump")
        loaded.write_etdump_result_to_file(dump, None)
        inspector = Inspector(etdump_path=dump, etrecord=record)
    for block in inspector.event_blocks:
        if block.name == "Execute":
            for event in block.events:
                if event.is_delegated_op or event.name.startswith("native_call_"):
                    yield event


def _by_handle(record: ETRecord) -> dict[int, list[Node]]:
    edge = one_method(record.edge_dialect_program)
    found: dict[int, list[Node]] = {}
    graphs = edge.graph_module.modules() if edge is not None else ()
    for module in graphs:
        for node in module.graph.nodes if isinstance(module, GraphModule) else ():
            handle = node.meta.get("debug_handle")
            if node.op == "call_function" and isinstance(handle, int):
                found.setdefault(handle, []).append(node)
    return found


def _bytes_of(nodes: Iterable[Node]) -> int:
    """What the nodes together read from elsewhere, once, and write for others."""
    mine = set(nodes)
    read = {given for node in mine for given in node.all_input_nodes if given not in mine}
    written = {
        node for node in mine if not node.users or any(user not in mine for user in node.users)
    }
    return sum(
        tensor.numel() * tensor.element_size()
        for node in read | written
        for tensor in _tensors(node)
    )


def _tensors(node: Node) -> list[torch.Tensor]:
    leaves = pytree.tree_leaves(node.meta.get("val"))
    return [leaf for leaf in leaves if isinstance(leaf, torch.Tensor) and _is_static(leaf)]


def _is_static(tensor: torch.Tensor) -> bool:
    return all(isinstance(size, int) for size in tensor.shape)


def multiply_adds_of(node: Node) -> int:
    """Multiply-adds of a matmul or a convolution; 0 for all others, which move bytes, and for
    dynamic sizes."""
    given = [tensors[0] for each in node.all_input_nodes if (tensors := _tensors(each))]
    outputs = _tensors(node)
    name = str(getattr(getattr(node.target, "_op", node.target), "__name__", node.target))
    if not outputs or len(given) < 2:
        return 0
    if name.startswith(("mm.", "bmm.", "linear.", "matmul.")):
        return outputs[0].numel() * given[0].shape[-1]
    if name.startswith(("addmm.", "baddbmm.")):
        return outputs[0].numel() * given[1].shape[-1]
    if name.startswith(("convolution.", "conv1d.", "conv2d.")):
        is_transposed = name.startswith("convolution.") and bool(node.args[6])
        size = given[0] if is_transposed else outputs[0]
        return size.numel() * given[1][0].numel()
    return 0
