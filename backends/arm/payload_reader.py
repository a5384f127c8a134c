# SPDX-License-Identifier: BSD-3-Clause
"""What tools may ask of a TOSA payload: its operators, but for constants."""

from __future__ import annotations

from executorch.exir.backend.payload import PayloadOperator

BACKEND_ID = "TOSABackend"
_NO_WORK = ("CONST", "CONST_SHAPE")


def operators(payload: bytes) -> list[PayloadOperator]:
    """In the order in which they run. ValueError for bytes that are no payload."""
    from executorch.backends.arm.aot.schema import SCHEMA

    graph = SCHEMA.unpack(payload)
    blocks = [block for region in graph.regions for block in region.blocks]
    found = [each.op.name for block in blocks for each in block.operators]
    return [PayloadOperator(name, None) for name in found if name not in _NO_WORK]
