# SPDX-License-Identifier: BSD-3-Clause
"""The payload of EthosUBackend: what Vela made, in named blocks."""

from __future__ import annotations

import struct
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

import numpy as np

from executorch.exir.backend.lowering.payload.blocks import ETHOS_U_BLOCKS

_DIMS = 6


@dataclass(frozen=True)
class Port:
    """An input or output: where it lies in its region."""

    shape: tuple[int, ...]
    element_size: int
    offset: int
    region: int


@dataclass(frozen=True)
class Payload:
    commands: bytes
    weights: bytes
    scratch_size: int
    inputs: tuple[Port, ...]
    outputs: tuple[Port, ...]


def ports(made: Mapping[str, Any], kind: str) -> bytes:
    """vela_bin_pack_io: a count, then nine numbers each."""
    shapes = np.asarray(made[f"{kind}_shape"])
    if shapes.ndim != 2 or shapes.shape[1] != _DIMS:
        raise ValueError(
            f"expected shapes of {_DIMS} dimensions of each {kind}, found {shapes.shape}"
        )
    packed = struct.pack("<i", len(shapes))
    columns = [made[f"{kind}_{name}"] for name in ("elem_size", "offset", "region")]
    for place, shape in enumerate(shapes):
        numbers = [*shape, *(np.asarray(each)[place] for each in columns)]
        try:
            packed += struct.pack("<9i", *(int(each) for each in numbers))
        except struct.error as error:
            raise ValueError(f"{kind} {place}: {numbers} are no numbers of 32 bits") from error
    return packed


def packed(made: Mapping[str, Any]) -> bytes:
    scratch = np.asarray(made["scratch_shape"])
    if scratch.dtype != np.int64:
        raise RuntimeError("Expected scratch to be int64")
    weights = np.asarray(made["weight_data"]).tobytes()
    return ETHOS_U_BLOCKS.write(
        {
            "cmd_data": np.asarray(made["cmd_data"]).tobytes(),
            "weight_data": weights or b"\0",
            "scratch_size": struct.pack("<I", int(scratch[0])),
            "inputs": ports(made, "input"),
            "outputs": ports(made, "output"),
        }
    )


def read(payload: bytes) -> Payload:
    """ValueError for bytes that are none."""
    blocks = ETHOS_U_BLOCKS.read(payload)
    commands = blocks["cmd_data"]
    if commands[:4] not in (b"COP1", b"COP2"):
        raise ValueError(f"expected commands that begin with COP1 or COP2, found {commands[:4]!r}")
    if len(blocks["scratch_size"]) != 4:
        raise ValueError("scratch_size: expected 4 bytes")
    (scratch,) = struct.unpack("<I", blocks["scratch_size"])
    inputs, outputs = (_ports(name, blocks[name]) for name in ("inputs", "outputs"))
    return Payload(commands, blocks["weight_data"], scratch, inputs, outputs)


def _ports(name: str, data: bytes) -> tuple[Port, ...]:
    count = struct.unpack_from("<i", data)[0] if len(data) >= 4 else -1
    if count < 0 or len(data) != 4 + 36 * count:
        raise ValueError(f"{name}: expected a count and nine numbers each, found {len(data)} bytes")
    rows = [struct.unpack_from("<9i", data, 4 + 36 * place) for place in range(count)]
    return tuple(Port(each[:6], *each[6:]) for each in rows)
