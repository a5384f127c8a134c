# SPDX-License-Identifier: BSD-3-Clause
"""What tools may ask of a payload (exir/backend/payload.py)."""

from __future__ import annotations

from typing import Any

from executorch.backends.skeleton_compiler.aot.options import SkeletonCompilerOptions
from executorch.exir.backend.payload import PayloadOperator

BACKEND_ID = "SkeletonCompilerBackend"
OPTIONS = SkeletonCompilerOptions


def operators(payload: bytes) -> list[PayloadOperator]:
    """In the order in which they run. ValueError for bytes that are no payload."""
    return [PayloadOperator(kind, None) for kind in _unpacked(payload).operators]


def facts(payload: bytes) -> list[tuple[str, str]]:
    found = _unpacked(payload)
    version = f"{found.version >> 16}.{found.version & 0xFFFF}"
    devices = ", ".join(each.device for each in found.binaries)
    return [("graph", found.graph), ("devices", devices), ("compiled by version", version)]


def _unpacked(payload: bytes) -> Any:
    from executorch.backends.skeleton_compiler.aot.compiler import SCHEMA

    return SCHEMA.unpack(payload)
