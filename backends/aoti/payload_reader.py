# SPDX-License-Identifier: BSD-3-Clause
"""What tools may ask of payloads that AOTInductor compiled (exir/backend/payload.py): two keys of named data."""

from __future__ import annotations

from executorch.backends.aoti.payload import Keys
from executorch.exir.backend.payload import PayloadOperator

BACKEND_ID = ("CudaBackend", "MetalBackend", "AotiCpuBackend")


def operators(payload: bytes) -> list[PayloadOperator]:
    raise ValueError("the method is a shared library, which has no operators to list")


def native_code(payload: bytes) -> str:
    """What of it is run as machine code: a file that has it is as much to be trusted as a program."""
    return (
        f"a shared library, named data {Keys.unpack(payload).library}"
        if payload
        else "a shared library"
    )


def facts(payload: bytes) -> list[tuple[str, str]]:
    """What a payload says of itself. ValueError for bytes that are none."""
    if not payload:  # as before the keys were of the contents
        return [("named data", "[method]_so_blob and [method]_weights_blob")]
    keys = Keys.unpack(payload)
    return [
        ("native code", "runs as it is in the file: load it from those only whom you trust"),
        ("shared library", f"named data {keys.library}"),
        ("weights", f"named data {keys.constants}"),
    ]
