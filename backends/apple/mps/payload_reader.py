# SPDX-License-Identifier: BSD-3-Clause
"""What tools may ask of a payload (exir/backend/payload.py)."""

from __future__ import annotations

from typing import Any

from executorch.backends.apple.mps.aot.options import MpsOptions
from executorch.exir.backend.payload import PayloadConstant, PayloadOperator

BACKEND_ID = "MPSBackend"
OPTIONS = MpsOptions


def operators(payload: bytes) -> list[PayloadOperator]:
    """In the order in which they run. ValueError for bytes that are no payload."""
    from executorch.backends.apple.mps.aot.schema import graph_of, value_ids

    graph, _ = graph_of(payload)
    tensors = graph.mps_values or []
    constants = {
        place: PayloadConstant(tensors[place].constant_buffer_size or 0)
        for place in graph.constant_ids or ()
        if 0 <= place < len(tensors)
    }
    found = []
    for each in graph.mps_nodes or ():
        kind = each.mpsnode_union
        read = value_ids(kind, are_results=False) if kind is not None else []
        held = tuple(constants[place] for place in read if place in constants)
        found.append(PayloadOperator(type(kind).__name__, None, held))
    return found


def facts(payload: bytes) -> list[tuple[str, str]]:
    """What a payload says of itself. ValueError for bytes that are none."""
    from executorch.backends.apple.mps.aot.schema import graph_of

    graph, constants = graph_of(payload)
    kind = "Metal kernel" if graph.graph_type else "MPS graph"
    found = [
        ("kind", f"{kind}, version {graph.version}"),
        ("bytes of constants", str(len(constants))),
    ]
    tensors = graph.mps_values or []
    for what, ids in (("input", graph.input_ids), ("output", graph.output_ids)):
        for place in ids or ():
            if not 0 <= place < len(tensors):
                raise ValueError(f"{what}: expected a value below {len(tensors)}, found {place}")
            found.append((what, f"{place}: {_tensor(tensors[place])}"))
    return found


def _tensor(value: Any) -> str:
    dtype = getattr(value.datatype, "name", "invalid").removeprefix("mps_data_type_")
    return f"{dtype} [{', '.join(map(str, value.dims or ()))}]"
