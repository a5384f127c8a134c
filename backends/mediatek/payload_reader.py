# SPDX-License-Identifier: BSD-3-Clause
"""What tools may ask of a payload (exir/backend/payload.py)."""

from __future__ import annotations

from executorch.exir.backend.payload import PayloadOperator

BACKEND_ID = "NeuropilotBackend"


def operators(payload: bytes) -> list[PayloadOperator]:
    """None are told of: the model is the maker's. ValueError for bytes that are no payload."""
    facts(payload)
    return []


def facts(payload: bytes) -> list[tuple[str, str]]:
    from executorch.backends.mediatek.compiler import unpack

    found = unpack(payload)
    return [
        ("inputs", str(found.num_inputs)),
        ("outputs", str(found.num_outputs)),
        ("bytes of the model", str(len(found.model))),
    ]
