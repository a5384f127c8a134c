# SPDX-License-Identifier: BSD-3-Clause
"""What each operator of a program takes when it runs here, those inside of delegates too, and what it has to do."""

from __future__ import annotations

import tempfile
from collections.abc import Iterable, Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import TYPE_CHECKING

from executorch.devtools.costs.machine import KERNELS
from executorch.devtools.devices.here import Here
from executorch.devtools.devices.job import Device, Job, Records
from executorch.devtools.etdump.serialize import deserialize_from_etdump_flatcc
from executorch.devtools.inspector._events import Event, EventBlock
from executorch.devtools.inspector._lookup import one_method

if TYPE_CHECKING:  # of a program without a record nothing needs torch
    from torch.fx import Node

    from executorch.devtools.costs.work import Work
    from executorch.exir.program._etrecord import ETRecord

_EXECUTIONS = 5
KERNEL = "native_call_"


@dataclass(frozen=True)
class Timed:
    """`seconds`: the least of several executions; `nodes`: of the edge program, which it joins; `engine`: the backend
    it is a part of, or KERNELS."""

    name: str
    nodes: tuple[Node, ...]
    handles: tuple[int, ...]
    seconds: float
    engine: str

    @property
    def works(self) -> list[Work]:
        from executorch.devtools.costs.work import works_of

        return works_of(self.nodes)

    @property
    def num_bytes(self) -> int:
        from executorch.devtools.costs.work import bytes_of

        return bytes_of(self.nodes)


def timed(events: Iterable[Event], record: ETRecord) -> list[Timed]:
    """Every operator that the record knows, in the order of execution; what a delegate does in several steps for the
    same nodes, such as changing a layout before and after, is one."""
    nodes = nodes_by_handle(record)
    found: dict[tuple[int, ...], Timed] = {}
    for event in filter(is_operator, events):
        given = event.debug_handles
        handles = (given,) if isinstance(given, int) else tuple(given or ())
        joined = tuple(node for handle in handles for node in nodes.get(handle, ()))
        if joined and event.perf_data is not None:
            name = event.name.removeprefix(KERNEL)
            engine = event.delegate_backend_name if event.is_delegated_op else None
            seconds = min(event.perf_data.raw) / 1e3
            if handles in found:
                found[handles] = replace(found[handles], seconds=found[handles].seconds + seconds)
            else:
                found[handles] = Timed(name, joined, handles, seconds, engine or KERNELS)
    return list(found.values())


def nodes_by_handle(record: ETRecord) -> dict[int, list[Node]]:
    """Calls of the edge program, branches included."""
    from torch.fx import GraphModule

    edge = one_method(record.edge_dialect_program)
    found: dict[int, list[Node]] = {}
    graphs = edge.graph_module.modules() if edge is not None else ()
    for module in graphs:
        for node in module.graph.nodes if isinstance(module, GraphModule) else ():
            handle = node.meta.get("debug_handle")
            if node.op == "call_function" and isinstance(handle, int):
                found.setdefault(handle, []).append(node)
    return found


def traced(job: Job, record: ETRecord | None = None, device: Device | None = None) -> list[Event]:
    """The events of several executions of a job, here unless a device is given; they know their nodes by the record.
    RuntimeError when the program does not load or run there."""
    ran = (device or Here()).run(
        replace(job, runs=_EXECUTIONS, records=Records.EVENTS, returns=False)
    )
    with tempfile.TemporaryDirectory() as folder:
        dump = Path(folder) / "dump"
        dump.write_bytes(ran.dump)
        blocks = blocks_of(dump, record)
    return executed(blocks)


def executed(blocks: Sequence[EventBlock]) -> list[Event]:
    return [event for block in blocks if block.name == "Execute" for event in block.events]


def blocks_of(dump: Path, record: ETRecord | None) -> list[EventBlock]:
    if record is None:
        return EventBlock._gen_from_etdump(deserialize_from_etdump_flatcc(dump.read_bytes()))
    from executorch.devtools.inspector import Inspector

    return Inspector(etdump_path=str(dump), etrecord=record).event_blocks


def is_operator(event: Event) -> bool:
    """A kernel's own time, or a part of a delegate; others hold these."""
    return bool(event.is_delegated_op) or event.name.startswith(KERNEL)
