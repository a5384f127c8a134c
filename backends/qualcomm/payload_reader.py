# SPDX-License-Identifier: BSD-3-Clause
"""What tools may ask of a payload (exir/backend/payload.py)."""

from __future__ import annotations

from executorch.exir.backend.payload import PayloadOperator

BACKEND_ID = "QnnBackend"


def operators(payload: bytes) -> list[PayloadOperator]:
    """None are told of: a context binary is the SDK's."""
    _binary(payload)
    return []


def facts(payload: bytes) -> list[tuple[str, str]]:
    signature = int.from_bytes(payload[4:12], "little")
    return [
        ("bytes of the context binary", str(len(_binary(payload)))),
        ("signature", f"{signature:016x}"),
    ]


def _binary(payload: bytes) -> bytes:
    """ValueError for bytes that are no payload."""
    from executorch.backends.qualcomm.aot.compiler import context_binary_in

    return context_binary_in(payload)
