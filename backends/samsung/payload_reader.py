# SPDX-License-Identifier: BSD-3-Clause
"""What tools may ask of a payload (exir/backend/payload.py)."""

from __future__ import annotations

from executorch.exir.backend.payload import PayloadOperator

BACKEND_ID = "EnnBackend"


def operators(payload: bytes) -> list[PayloadOperator]:
    """None are told of: it is the NPU's binary. ValueError for no bytes."""
    facts(payload)
    return []


def facts(payload: bytes) -> list[tuple[str, str]]:
    if not payload:
        raise ValueError("EnnBackend payload: expected a binary of the NPU, found no bytes")
    return [("bytes of the binary", str(len(payload)))]
