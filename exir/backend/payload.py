# SPDX-License-Identifier: BSD-3-Clause
"""What a backend can say about the operators in its payloads, for tools.

A backend whose folder has a module `payload_reader` offers this: there `BACKEND_ID` is its name in files, or a tuple of
its names, and `operators(payload: bytes) -> list[PayloadOperator]` lists what the payload runs, in order; ValueError
for bytes that are none of its payloads. It may also have:

- `expose(payload: bytes) -> tuple[bytes, list[PayloadValue]]`: the payload with the last value of each debug handle as
  an output, those that are none yet behind all arguments, and these values.
- `facts(payload: bytes) -> list[tuple[str, str]]`: what else it says of itself, as inputs and where they lie.
- `native_code(payload: bytes) -> str`: of a backend that loads machine code from its payload, where that lies.
- `ending(payload: bytes) -> str`: of a file that has nothing but the payload, such as ".vgf".
- `OPTIONS`: the dataclass of its options (exir/backend/lowering/payload/options.py)."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    import torch


def operator_key(debug_handle: int) -> str:
    """For PreprocessResult.debug_handle_map, where a delegate's events have "[<handle>]" in their names. Upstream's
    Inspector takes a key for the name of an event that contains all of it; it must not find these, since it cannot
    compare values then unless the delegate records one for each of its operators."""
    return f"[{debug_handle}] and what is joined with it"


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


@dataclass(frozen=True)
class PayloadValue:
    """What an operator writes: argument number `argument` of the delegate's call, contiguous in these sizes. `limits`:
    what it cuts its numbers to, as where an activation was fused into it."""

    debug_handle: int
    argument: int
    dtype: torch.dtype
    sizes: tuple[int, ...]
    limits: tuple[float, float] | None = None
