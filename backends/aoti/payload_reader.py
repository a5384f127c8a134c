# SPDX-License-Identifier: BSD-3-Clause
"""What tools may ask of payloads that AOTInductor compiled (exir/backend/payload.py): two keys of named data."""

from __future__ import annotations

from executorch.exir.backend.payload import PayloadOperator

BACKEND_ID = ("CudaBackend", "MetalBackend")
_ENDINGS = ("_so_blob", "_weights_blob")


def operators(payload: bytes) -> list[PayloadOperator]:
    raise ValueError("the method is a shared library, which has no operators to list")


def facts(payload: bytes) -> list[tuple[str, str]]:
    """What a payload says of itself. ValueError for bytes that are none."""
    if not payload:  # as before the keys were of the contents
        return [("named data", "[method]_so_blob and [method]_weights_blob")]
    keys = payload.decode("utf-8", "replace").split("\n")
    fits = len(keys) == 2 and all(
        key.endswith(end) for key, end in zip(keys, _ENDINGS, strict=True)
    )
    if not fits:
        raise ValueError(
            f"expected two lines, keys that end in {' and '.join(_ENDINGS)}, found {payload[:40]!r}"
        )
    return [("shared library", f"named data {keys[0]}"), ("weights", f"named data {keys[1]}")]
