# SPDX-License-Identifier: BSD-3-Clause
"""From programs to graphs, and from graphs to payloads."""

from __future__ import annotations

import hashlib
from collections.abc import Mapping

from torch.export import ExportedProgram
from torch.fx import Node

from executorch.backends.qualcomm.aot.door import door_for
from executorch.backends.qualcomm.aot.graph import Graph
from executorch.backends.qualcomm.aot.ops import TABLE
from executorch.backends.qualcomm.aot.writer import GraphWriter
from executorch.backends.qualcomm.serialization.qc_schema import QnnExecuTorchOptions
from executorch.exir.backend.backend_details import PreprocessResult
from executorch.exir.backend.lowering.constants import Constants
from executorch.exir.backend.lowering.external.compiler import Refused
from executorch.exir.backend.lowering.payload.blocks import QUALCOMM_HEADER

FORWARD = "forward"  # what a graph is called where there is one method


def constants_of(program: ExportedProgram) -> Constants:
    """Calls that read nothing but data are computed when the delegate is compiled."""
    return Constants(program, computed=None)


def written(program: ExportedProgram, name: str = FORWARD) -> GraphWriter:
    """All of a program, which has nothing but what the table takes."""
    constants = constants_of(program)
    writer = GraphWriter(TABLE, constants, name)
    writer.lower(program, TABLE.steps_of(program.graph, constants))
    return writer


def graph_of_call(call: Node, constants: Constants) -> Graph:
    """Of a call that a row takes, as what it is in a program."""
    step = TABLE.step_of(call, constants)
    writer = GraphWriter(TABLE, constants, call.name)
    writer.lower_alone(step)
    return writer.graph()


def payloads(
    programs: Mapping[str, ExportedProgram], options: QnnExecuTorchOptions
) -> list[PreprocessResult]:
    """Of programs, by the names of their graphs, that are one context."""
    door = door_for(options)
    writers = [written(program, name) for name, program in programs.items()]
    try:
        binary = door.compile([each.graph() for each in writers], options)
    except Refused as refused:
        raise writers[0].refused(refused.reason) from refused
    payload = payload_of(binary)
    return [each.result(payload) for each in writers]


def payload_of(binary: bytes) -> bytes:
    """Delegates of equal signature share a context: it is that of the bytes."""
    signature = int.from_bytes(hashlib.sha256(binary).digest()[:8], "little") >> 1
    return QUALCOMM_HEADER.write({"context binary": binary}, {"signature": signature})


def get_qnn_context_binary_alignment() -> int:
    """Of a payload in a file, in bytes; its header keeps the context binary's."""
    return 256


def context_binary_in(payload: bytes) -> bytes:
    """ValueError for bytes that are no payload."""
    (place,) = QUALCOMM_HEADER.places(payload)
    return payload[place.offset : place.offset + place.size]
