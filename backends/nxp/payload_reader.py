# SPDX-License-Identifier: BSD-3-Clause
"""What tools may ask of a payload (exir/backend/payload.py)."""

from __future__ import annotations

from executorch.exir.backend.payload import PayloadOperator

BACKEND_ID = "NeutronBackend"


def operators(payload: bytes) -> list[PayloadOperator]:
    """None are told of: microcode is the NPU's. ValueError for bytes that are no payload."""
    facts(payload)
    return []


def facts(payload: bytes) -> list[tuple[str, str]]:
    from executorch.backends.nxp.aot.payload import read

    found = read(payload)
    return [
        ("payload version", str(found.version)),
        ("inputs, channels last", f"{len(found.input_flags)}, {sum(found.input_flags)}"),
        ("outputs, channels last", f"{len(found.output_flags)}, {sum(found.output_flags)}"),
        ("bytes of microcode", str(len(found.microcode))),
        ("bytes of weights", str(len(found.weights))),
    ]
