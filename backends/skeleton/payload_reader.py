# SPDX-License-Identifier: BSD-3-Clause
"""What tools may ask of a payload (exir/backend/payload.py)."""

from __future__ import annotations

from executorch.backends.skeleton.aot.options import SkeletonOptions
from executorch.exir.backend.payload import PayloadConstant, PayloadOperator

BACKEND_ID = "SkeletonBackend"
OPTIONS = SkeletonOptions


def operators(payload: bytes) -> list[PayloadOperator]:
    """In the order in which they run. ValueError for bytes that are no payload."""
    from executorch.backends.skeleton.aot.payload import SCHEMA

    graph = SCHEMA.unpack(payload)
    first = graph.num_inputs or 0
    data = [PayloadConstant(4 * each.numel, each.key) for each in graph.constants]
    known = dict(enumerate(data, first))
    return [
        PayloadOperator(
            call.operator.name,
            None,
            tuple(known[value] for value in (call.left, call.right) if value in known),
        )
        for call in graph.calls
    ]
