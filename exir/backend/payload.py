# SPDX-License-Identifier: BSD-3-Clause
"""What a backend can say about the operators in its payloads, for tools.

A backend whose folder has a module `payload_reader` offers this: there `BACKEND_ID` is its name in files, and
`operators(payload: bytes) -> list[PayloadOperator]` lists what the payload runs, in order; ValueError for bytes
that are none of its payloads."""

from __future__ import annotations

from dataclasses import dataclass


@dataclass(frozen=True)
class PayloadConstant:
    """Bytes that an operator reads: of the payload itself, or named data of the program under `key`."""

    num_bytes: int
    key: str | None = None


@dataclass(frozen=True)
class PayloadOperator:
    """`kind`: the backend's name for what it does. `debug_handle`: of the node that it comes from, None if unknown."""

    kind: str
    debug_handle: int | None
    constants: tuple[PayloadConstant, ...] = ()
